import Link from '@docusaurus/Link';
import useDocusaurusContext from '@docusaurus/useDocusaurusContext';
import Layout from '@theme/Layout';
import type {ReactNode} from 'react';

import styles from './index.module.css';

interface Part {
  title: string;
  text: string;
  firstPage: string;
}

const PARTS: Part[] = [
  {
    title: 'Part 1: Foundations',
    text: 'Why a body changes intelligence, how robots sense the world, and how they move in it.',
    firstPage: '/docs/part-1-foundations/chapter-1-embodied-intelligence/digital-vs-physical-ai',
  },
  {
    title: 'Part 2: Software',
    text: 'ROS 2 from the first node to quality of service, and how a robot is described for software.',
    firstPage: '/docs/part-2-software/chapter-4-ros-2/what-is-ros-2',
  },
  {
    title: 'Part 3: Simulation',
    text: 'Gazebo and Isaac Sim: where mistakes are cheap, and what simulation does not show.',
    firstPage: '/docs/part-3-simulation/chapter-6-gazebo/why-simulate',
  },
  {
    title: 'Part 4: Perception and Motion',
    text: 'Cameras and maps, navigation, kinematics and dynamics, walking, and grasping.',
    firstPage: '/docs/part-4-perception-and-motion/chapter-8-perception-vslam/cameras-and-images',
  },
  {
    title: 'Part 5: Intelligence and Society',
    text: 'Robots that follow spoken words, the hardware of the lab, ethics and safety.',
    firstPage: '/docs/part-5-intelligence-and-society/chapter-13-vla-and-voice/from-words-to-actions',
  },
];

/** The landing page: what the book is about, and the way in. */
export default function Home(): ReactNode {
  const {siteConfig} = useDocusaurusContext();
  return (
    <Layout description="A short textbook on physical AI and humanoid robotics, with a tutor that answers from the book.">
      <header className={styles.hero}>
        <h1>{siteConfig.title}</h1>
        <p className={styles.tagline}>
          {siteConfig.tagline}. Fourteen chapters, two robots, from the first sensor reading to a humanoid that walks.
        </p>
        <div className={styles.buttons}>
          <Link className={styles.first} to={PARTS[0].firstPage}>
            Start reading
          </Link>
        </div>
      </header>
      <main className={styles.parts}>
        {PARTS.map(({title, text, firstPage}) => (
          <section key={title} className={styles.part}>
            <h2>
              <Link to={firstPage}>{title}</Link>
            </h2>
            <p>{text}</p>
          </section>
        ))}
      </main>
    </Layout>
  );
}
