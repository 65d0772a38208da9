"""The command, run in this process."""

from topicprism.cli import main


def run(capsys, *argv):
    """Exit status, standard output, standard error."""
    capsys.readouterr()
    status = main([str(word) for word in argv])
    done = capsys.readouterr()
    return status, done.out, done.err
