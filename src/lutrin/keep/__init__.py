"""What has to last or travel: backups, archives, bundles, model files."""
