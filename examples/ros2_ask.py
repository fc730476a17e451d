"""A ROS 2 node that asks the book: questions come on `/lutrin/question`, answers go to `/lutrin/answer`, both as text.

    python3 examples/ros2_ask.py --address http://127.0.0.1:7860
    ros2 topic pub --once /lutrin/question std_msgs/msg/String "data: 'How is the battery stored?'"

It speaks plain HTTP and needs nothing of Lutrin, so that it runs under the system's own Python, where ROS 2 is. With a
question as an argument it asks that one and ends, for which no ROS is needed.
"""

import argparse
import json
import queue
import threading
import urllib.error
import urllib.request

QUESTIONS, ANSWERS = "/lutrin/question", "/lutrin/answer"
WAITING = 16
"""Questions that may wait; beyond, the robot is told to ask again."""
LONGEST_S = 30.0


def ask(address: str, question: str, timeout_s: float = LONGEST_S) -> str:
    """The answer as text with where it stands in the book, or a sentence that says why there is none.

    Args:
        address: Of the server, `http://127.0.0.1:7860`.
        question: As the robot, or the person beside it, puts it.
        timeout_s: Longest wait.
    """
    body = json.dumps({"question": question}).encode()
    request = urllib.request.Request(f"{address}/query", body, {"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=timeout_s) as reply:
            answer = json.load(reply)
    except urllib.error.HTTPError as error:
        return str(json.load(error).get("detail", error.reason))
    except OSError as error:
        return f"The book cannot be asked: {error}."
    places = [" › ".join(filter(None, (item["chapter"], item["section_title"]))) for item in answer["sources"]]
    lines = [*answer["warnings"], answer["answer"], *(f"[{number}] {place}" for number, place in enumerate(places, 1))]
    return "\n".join(lines)


def run_node(address: str) -> None:
    """Answer until the node is stopped; one question at a time, so that a slow answer delays no other callback."""
    import rclpy  # noqa: PLC0415 - only a node needs ROS
    from std_msgs.msg import String  # noqa: PLC0415 - only a node needs ROS

    rclpy.init()
    node = rclpy.create_node("lutrin_ask")
    answers = node.create_publisher(String, ANSWERS, 10)
    waiting: queue.Queue[str] = queue.Queue(WAITING)

    def answer_all() -> None:
        while True:
            answers.publish(String(data=ask(address, waiting.get())))

    def heard(message: "String") -> None:
        try:
            waiting.put_nowait(message.data)
        except queue.Full:
            answers.publish(String(data="Too many questions are waiting. Please ask again in a moment."))

    node.create_subscription(String, QUESTIONS, heard, 10)
    threading.Thread(target=answer_all, daemon=True).start()
    try:
        rclpy.spin(node)
    finally:
        node.destroy_node()
        rclpy.try_shutdown()


def main() -> None:
    """Ask once, or be a node."""
    parser = argparse.ArgumentParser(description="Ask the book over HTTP, once or as a node of ROS 2.")
    parser.add_argument("question", nargs="?", help="Ask this and end; without it, be a node.")
    parser.add_argument("--address", default="http://127.0.0.1:7860", help="Of the server (%(default)s).")
    arguments = parser.parse_args()
    if arguments.question:
        print(ask(arguments.address, arguments.question))
    else:
        run_node(arguments.address)


if __name__ == "__main__":
    main()
