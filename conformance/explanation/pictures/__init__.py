"""Pictures of an explanation: the graph at a line as DOT and SVG, a page to step through, notebook output.

`moments` lists what can be pictured, `scene` says what a picture shows, `dot` and `svg` draw it, `page` and
`notebook` show it. What a script did is found elsewhere; nothing here runs one.
"""
