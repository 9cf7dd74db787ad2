import geopandas as gpd
import pytest
import shapely
from geotracs.domains import Disc, Globe

from geotracs import InputError
from geotracs.cli.regions import read_domain


@pytest.fixture
def boroughs(tmp_path):
    shapes = [shapely.box(0, 0, 1, 1), shapely.box(1, 0, 2, 1), shapely.box(2, 0, 3, 1)]
    path = tmp_path / "a b=c.gpkg"
    gpd.GeoDataFrame({"name": ["Queens", "Kings", "Queens"], "code": [1, 2, 3]}, geometry=shapes, crs=4326).to_file(
        path, layer="areas"
    )
    return path


@pytest.mark.parametrize(
    ("text", "region"),
    [
        (None, None),
        ("globe", Globe()),
        ("globe:-85,-40", Globe(-85, -40)),
        ("disc:13.4,52.5,5000", Disc((13.4, 52.5), 5000)),
        ("-1.5, 2,3,4e0", (-1.5, 2, 3, 4)),
    ],
)
def test_regions(text, region):
    assert read_domain(text) == region


def test_rows_of_a_file(boroughs):
    assert len(read_domain(str(boroughs))) == 3
    assert read_domain(f"{boroughs}:name=Queens")["code"].tolist() == [1, 3]
    assert read_domain(f"{boroughs}|layername=areas:code=2")["name"].tolist() == ["Kings"]
    with pytest.raises(InputError, match=r"No row of .* has 'Bronx' in column 'name', which holds Kings, Queens"):
        read_domain(f"{boroughs}:name=Bronx")
    with pytest.raises(InputError, match="There is no column 'borough'"):
        read_domain(f"{boroughs}:borough=Queens")


@pytest.mark.parametrize("text", ["globe:1", "disk:1,2,3", "disc:1,2", "1,2,3", "nowhere.gpkg", "nowhere.gpkg:name=x"])
def test_what_is_no_region(text):
    with pytest.raises(InputError, match="`--domain` must be a file, file:column=value"):
        read_domain(text)
