"""A plugin of pytest: with GEOTRACS_FORBID_SKIPS a skipped test fails the run, whichever process skipped it."""

import os

BROWSER = (
    "Maps were not tested in a browser: install Chromium (apt install chromium) or name one with GEOTRACS_CHROMIUM."
)


def pytest_terminal_summary(terminalreporter):
    if _skipped(terminalreporter):
        terminalreporter.write_line("Skipped tests are failures here.", red=True)
    elif any("Chromium" in str(report.longrepr) for report in terminalreporter.stats.get("skipped", [])):
        terminalreporter.write_line(BROWSER)


def pytest_sessionfinish(session, exitstatus):
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")  # which processes that only work have not
    if reporter and _skipped(reporter) and exitstatus == 0:
        session.exitstatus = 1


def _skipped(reporter):
    return bool(os.environ.get("GEOTRACS_FORBID_SKIPS")) and bool(reporter.stats.get("skipped"))
