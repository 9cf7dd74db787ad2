"""Commands about trust: what a release tells about a person."""

import json

import click

from geotracs.cli.arguments import ALLOW_REMOTE, read_domain, read_layer, read_places
from geotracs.core.following import SPEED
from geotracs.trust.risk import WITHIN, risk


@click.command("risk")
@click.option("--domain", required=True, help="Public region: a file, or xmin,ymin,xmax,ymax in degrees.")
@click.option("--eps", type=float, required=True, help="Privacy parameter of each location, or as --unit says.")
@click.option("--interval", type=float, required=True, help="Seconds between two reports of a person.")
@click.option(
    "--speed", type=float, default=SPEED, show_default=True, help="How fast people are, in metres per second."
)
@click.option("--stay", type=float, default=0.3, show_default=True, help="Which part of their way people rest.")
@click.option("--method", default="joint", show_default=True, help="As for perturb.")
@click.option("--unit", default="location", show_default=True, help="As for perturb.")
@click.option("--round-to", help="Public places: a file, or grid:500 for cells of 500 metres.")
@click.option("--prior", help="Where locations are likely: a public file of points or areas.")
@click.option("--weight", help="Column of the prior with the number of each point or area.")
@click.option("--people", type=int, default=20, show_default=True, help="How many people are made up.")
@click.option("--fixes", type=int, default=240, show_default=True, help="How many reports each has.")
@click.option("--within", type=float, default=WITHIN, show_default=True, help="How near a guess must be, in metres.")
@click.option("--known", type=int, default=4, show_default=True, help="How many points of a person somebody knows.")
@click.option("--seed", type=int, default=0, show_default=True, help="For what is made up.")
@click.option("--json", "as_json", is_flag=True, help="Print the figures as JSON.")
@ALLOW_REMOTE
def risk_command(domain, eps, round_to, prior, as_json, allow_remote, **arguments):
    """Say what a release in a public region would tell about a person, in metres; no data is needed.

    Made-up people are released and attacked: by averaging, by following them with a model of motion, by where they are
    at night and by day, and by linking two releases. Each figure is beside what can be guessed without the release.

    \b
    Examples:
        geotracs risk --domain city.geojson --eps 4 --interval 60
        geotracs risk --domain 139.4,35.5,139.9,35.9 --eps 8 --interval 5 --speed 2 --json
    """
    found = risk(
        read_domain(domain, allow_remote),
        eps,
        round_to=read_places(round_to, allow_remote),
        prior=read_layer(prior, allow_remote),
        **arguments,
    )
    click.echo(json.dumps(found.to_dict(), indent=2) if as_json else repr(found))
