<!DOCTYPE qgis PUBLIC 'http://mrcc.com/qgis.dtd' 'SYSTEM'>
<qgis styleCategories="Symbology|Labeling|Rendering" version="3.22.16-Białowieża" simplifyMaxScale="1" simplifyDrawingHints="1" labelsEnabled="0" maxScale="0" simplifyAlgorithm="0" simplifyDrawingTol="1" simplifyLocal="1" hasScaleBasedVisibilityFlag="0" symbologyReferenceScale="-1" minScale="100000000">
  <renderer-v2 referencescale="-1" symbollevels="0" forceraster="0" type="RuleRenderer" enableorderby="0">
    <rules key="{b713c473-e2bf-4ce8-a6cd-93c3854e8e0c}">
      <rule label="trips (as wide as there are)" key="{8b65c53e-62fe-4962-b4c7-b0e9902c0a4a}" symbol="0" filter="&quot;origin&quot; &lt;> &quot;destination&quot; and &quot;count&quot; >= 1"/>
    </rules>
    <symbols>
      <symbol alpha="1" force_rhr="0" name="0" type="line" clip_to_extent="1">
        <data_defined_properties>
          <Option type="Map">
            <Option name="name" type="QString" value=""/>
            <Option name="properties"/>
            <Option name="type" type="QString" value="collection"/>
          </Option>
        </data_defined_properties>
        <layer class="GeometryGenerator" pass="0" locked="0" enabled="1">
          <Option type="Map">
            <Option name="SymbolType" type="QString" value="Line"/>
            <Option name="geometryModifier" type="QString" value="make_line(start_point($geometry), project(line_interpolate_point($geometry, length($geometry) / 2), length($geometry) * 0.12, azimuth(start_point($geometry), end_point($geometry)) + pi() / 2), end_point($geometry))"/>
            <Option name="units" type="QString" value="MapUnit"/>
          </Option>
          <prop k="SymbolType" v="Line"/>
          <prop k="geometryModifier" v="make_line(start_point($geometry), project(line_interpolate_point($geometry, length($geometry) / 2), length($geometry) * 0.12, azimuth(start_point($geometry), end_point($geometry)) + pi() / 2), end_point($geometry))"/>
          <prop k="units" v="MapUnit"/>
          <data_defined_properties>
            <Option type="Map">
              <Option name="name" type="QString" value=""/>
              <Option name="properties"/>
              <Option name="type" type="QString" value="collection"/>
            </Option>
          </data_defined_properties>
          <symbol alpha="1" force_rhr="0" name="@0@0" type="line" clip_to_extent="1">
            <data_defined_properties>
              <Option type="Map">
                <Option name="name" type="QString" value=""/>
                <Option name="properties"/>
                <Option name="type" type="QString" value="collection"/>
              </Option>
            </data_defined_properties>
            <layer class="ArrowLine" pass="0" locked="0" enabled="1">
              <Option type="Map">
                <Option name="arrow_start_width" type="QString" value="0.4"/>
                <Option name="arrow_start_width_unit" type="QString" value="MM"/>
                <Option name="arrow_start_width_unit_scale" type="QString" value="3x:0,0,0,0,0,0"/>
                <Option name="arrow_type" type="QString" value="0"/>
                <Option name="arrow_width" type="QString" value="0.4"/>
                <Option name="arrow_width_unit" type="QString" value="MM"/>
                <Option name="arrow_width_unit_scale" type="QString" value="3x:0,0,0,0,0,0"/>
                <Option name="head_length" type="QString" value="2"/>
                <Option name="head_length_unit" type="QString" value="MM"/>
                <Option name="head_length_unit_scale" type="QString" value="3x:0,0,0,0,0,0"/>
                <Option name="head_thickness" type="QString" value="1.2"/>
                <Option name="head_thickness_unit" type="QString" value="MM"/>
                <Option name="head_thickness_unit_scale" type="QString" value="3x:0,0,0,0,0,0"/>
                <Option name="head_type" type="QString" value="0"/>
                <Option name="is_curved" type="QString" value="1"/>
                <Option name="is_repeated" type="QString" value="0"/>
                <Option name="offset" type="QString" value="0"/>
                <Option name="offset_unit" type="QString" value="MM"/>
                <Option name="offset_unit_scale" type="QString" value="3x:0,0,0,0,0,0"/>
                <Option name="ring_filter" type="QString" value="0"/>
              </Option>
              <prop k="arrow_start_width" v="0.4"/>
              <prop k="arrow_start_width_unit" v="MM"/>
              <prop k="arrow_start_width_unit_scale" v="3x:0,0,0,0,0,0"/>
              <prop k="arrow_type" v="0"/>
              <prop k="arrow_width" v="0.4"/>
              <prop k="arrow_width_unit" v="MM"/>
              <prop k="arrow_width_unit_scale" v="3x:0,0,0,0,0,0"/>
              <prop k="head_length" v="2"/>
              <prop k="head_length_unit" v="MM"/>
              <prop k="head_length_unit_scale" v="3x:0,0,0,0,0,0"/>
              <prop k="head_thickness" v="1.2"/>
              <prop k="head_thickness_unit" v="MM"/>
              <prop k="head_thickness_unit_scale" v="3x:0,0,0,0,0,0"/>
              <prop k="head_type" v="0"/>
              <prop k="is_curved" v="1"/>
              <prop k="is_repeated" v="0"/>
              <prop k="offset" v="0"/>
              <prop k="offset_unit" v="MM"/>
              <prop k="offset_unit_scale" v="3x:0,0,0,0,0,0"/>
              <prop k="ring_filter" v="0"/>
              <data_defined_properties>
                <Option type="Map">
                  <Option name="name" type="QString" value=""/>
                  <Option name="properties" type="Map">
                    <Option name="arrowHeadThickness" type="Map">
                      <Option name="active" type="bool" value="true"/>
                      <Option name="expression" type="QString" value="1 + coalesce(scale_linear(&quot;count&quot;, 0, maximum(&quot;count&quot;, filter:=&quot;origin&quot; &lt;> &quot;destination&quot;), 0.2, 2.6), 0.2) * 0.6"/>
                      <Option name="type" type="int" value="3"/>
                    </Option>
                    <Option name="arrowStartWidth" type="Map">
                      <Option name="active" type="bool" value="true"/>
                      <Option name="expression" type="QString" value="coalesce(scale_linear(&quot;count&quot;, 0, maximum(&quot;count&quot;, filter:=&quot;origin&quot; &lt;> &quot;destination&quot;), 0.2, 2.6), 0.2) * 0.4"/>
                      <Option name="type" type="int" value="3"/>
                    </Option>
                    <Option name="arrowWidth" type="Map">
                      <Option name="active" type="bool" value="true"/>
                      <Option name="expression" type="QString" value="coalesce(scale_linear(&quot;count&quot;, 0, maximum(&quot;count&quot;, filter:=&quot;origin&quot; &lt;> &quot;destination&quot;), 0.2, 2.6), 0.2)"/>
                      <Option name="type" type="int" value="3"/>
                    </Option>
                  </Option>
                  <Option name="type" type="QString" value="collection"/>
                </Option>
              </data_defined_properties>
              <symbol alpha="1" force_rhr="0" name="@@0@0@0" type="fill" clip_to_extent="1">
                <data_defined_properties>
                  <Option type="Map">
                    <Option name="name" type="QString" value=""/>
                    <Option name="properties"/>
                    <Option name="type" type="QString" value="collection"/>
                  </Option>
                </data_defined_properties>
                <layer class="SimpleFill" pass="0" locked="0" enabled="1">
                  <Option type="Map">
                    <Option name="border_width_map_unit_scale" type="QString" value="3x:0,0,0,0,0,0"/>
                    <Option name="color" type="QString" value="39,73,109,190"/>
                    <Option name="joinstyle" type="QString" value="bevel"/>
                    <Option name="offset" type="QString" value="0,0"/>
                    <Option name="offset_map_unit_scale" type="QString" value="3x:0,0,0,0,0,0"/>
                    <Option name="offset_unit" type="QString" value="MM"/>
                    <Option name="outline_color" type="QString" value="255,255,255,180"/>
                    <Option name="outline_style" type="QString" value="solid"/>
                    <Option name="outline_width" type="QString" value="0.15"/>
                    <Option name="outline_width_unit" type="QString" value="MM"/>
                    <Option name="style" type="QString" value="solid"/>
                  </Option>
                  <prop k="border_width_map_unit_scale" v="3x:0,0,0,0,0,0"/>
                  <prop k="color" v="39,73,109,190"/>
                  <prop k="joinstyle" v="bevel"/>
                  <prop k="offset" v="0,0"/>
                  <prop k="offset_map_unit_scale" v="3x:0,0,0,0,0,0"/>
                  <prop k="offset_unit" v="MM"/>
                  <prop k="outline_color" v="255,255,255,180"/>
                  <prop k="outline_style" v="solid"/>
                  <prop k="outline_width" v="0.15"/>
                  <prop k="outline_width_unit" v="MM"/>
                  <prop k="style" v="solid"/>
                  <data_defined_properties>
                    <Option type="Map">
                      <Option name="name" type="QString" value=""/>
                      <Option name="properties"/>
                      <Option name="type" type="QString" value="collection"/>
                    </Option>
                  </data_defined_properties>
                </layer>
              </symbol>
            </layer>
          </symbol>
        </layer>
      </symbol>
    </symbols>
  </renderer-v2>
  <blendMode>0</blendMode>
  <featureBlendMode>0</featureBlendMode>
  <layerOpacity>1</layerOpacity>
  <layerGeometryType>1</layerGeometryType>
</qgis>
