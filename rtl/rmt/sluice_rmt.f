// sluice_rmt_top: the match-action pipeline with a top of its own. Paths are relative to this file: read it with -F.
-F sluice_rmt_pipeline.f
sluice_rmt_top.sv
