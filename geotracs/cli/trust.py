"""Commands for whoever answers for a release: the ledger."""

import os

import click

import geotracs.io.files as files
from geotracs.cli.arguments import input_options
from geotracs.errors import InputError
from geotracs.geo.tracks import check_columns
from geotracs.trust.ledger import PER, Ledger


@click.group("ledger")
def ledger_command():
    """Show how much epsilon people have spent, change the budget, or charge a release made elsewhere.

    \b
    Examples:
        geotracs ledger budget ledger.db 100
        geotracs perturb tracks.gpkg private.gpkg --eps 1 --trajectory person --ledger ledger.db --data bus-2026
        geotracs ledger show ledger.db
    """


@ledger_command.command("show")
@click.argument("ledger", metavar="LEDGER")
@click.option("--person", help="Say how much this person has spent; a label.")
@click.option("--data", help="On these data only.")
def show(ledger, person, data):
    """Say what was spent and entered; no label is shown."""
    book = Ledger(ledger)
    if person is not None:
        click.echo(f"{book.spent(person, data):g}")
        return
    click.echo(f"Budget: epsilon {book.budget:g} per {'person' if book.per == 'person' else 'person and data'}.\n")
    click.echo(f"{book.spent(data=data).to_string()}\n")
    click.echo(book.entries().to_string())


@ledger_command.command("budget")
@click.argument("ledger", metavar="LEDGER")
@click.argument("eps", metavar="[EPS]", type=float, required=False)
@click.option("--per", type=click.Choice(PER), help="What the budget of a new ledger is for; a person if not given.")
def change_budget(ledger, eps, per):
    """Say the budget, or set it to EPS; makes LEDGER if it is not there."""
    book = Ledger(ledger, per=per) if eps is None or os.path.exists(ledger) else Ledger(ledger, eps, per)
    if eps is not None:
        book.set_budget(eps)
    click.echo(f"{book.budget:g}")


@ledger_command.command("charge")
@click.argument("ledger", metavar="LEDGER")
@click.argument("source", metavar="IN")
@click.option("--person", required=True, help="Column of IN that says whose row it is.")
@click.option("--eps", type=float, required=True, help="What each person of IN is charged, for all rows together.")
@click.option("--data", required=True, help="How the ledger names the data, e.g. bus-2026.")
@input_options
def charge(ledger, source, person, eps, data, layer, x, y, input_crs, allow_remote):
    """Charge every person of IN once, for a release that was made without the ledger."""
    book = Ledger(ledger)
    frame = files.read(source, layer=layer, x=x, y=y, crs=input_crs, allow_remote=allow_remote)
    check_columns(frame, [person])
    missing = int(frame[person].isna().sum())
    if missing:
        raise InputError(f"{missing:,} row(s) have no value in the column {person!r}; fill them in or drop them.")
    people = frame[person].unique()
    book.charge(dict.fromkeys(people, eps), data)
    click.echo(f"Charged {len(people):,} people.")
