"""Pictures: folium maps and matplotlib plots."""
