"""Settings, in Options, Processing, Providers, geotracs."""

from processing.core.ProcessingConfig import ProcessingConfig, Setting

from .words import tr

GROUP, PROGRAM, LEDGER = "geotracs", "GEOTRACS_PROGRAM", "GEOTRACS_LEDGER"


def add(icon):
    """Add the settings to QGIS."""
    ProcessingConfig.settingIcons[GROUP] = icon
    there = {"valuetype": Setting.FILE}
    words = tr("The environment that geotracs is installed in, or its program (found in PATH if empty)")
    ProcessingConfig.addSetting(Setting(GROUP, PROGRAM, words, "", **there))
    words = tr("Ledger that every perturbation is charged to (a file that geotracs ledger budget has made)")
    ProcessingConfig.addSetting(Setting(GROUP, LEDGER, words, "", **there))
    ProcessingConfig.readSettings()


def remove():
    """Remove them."""
    for name in (PROGRAM, LEDGER):
        ProcessingConfig.removeSetting(name)


def program():
    """Return where geotracs is, if that is set."""
    return (ProcessingConfig.getSetting(PROGRAM) or "").strip()


def ledger():
    """Return the file of the ledger, if that is set."""
    return (ProcessingConfig.getSetting(LEDGER) or "").strip()
