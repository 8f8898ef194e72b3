# Sluice: every job of the project, one target each. `make` lists them.
# Each sets up what it needs once; logic that make says badly lives in tools/.

.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

PYTHON := .venv/bin/python
# Compiled Rust is kept for the next clone where sccache is installed; RUSTC_WRAPPER= does without.
ifeq ($(origin RUSTC_WRAPPER),undefined)
ifneq ($(shell command -v sccache 2>/dev/null),)
export RUSTC_WRAPPER := sccache
endif
endif
CONFIGS := default tiny
BARE_CONFIGS := bare_default bare_tiny
# Smaller NICs of which `make test` has no plug-in.
WITH_CONFIGS := with_xdp_tiny with_l7_tiny
# With external memory.
FAR_CONFIGS := tiny_far
RMT_CONFIGS := rmt_default rmt_tiny
XDP_CONFIGS := xdp_default xdp_tiny xdp_tiny_far
L7_CONFIGS := l7_default l7_tiny

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

.PHONY: build
build: rust ## build target/release/sluice
	@cargo build --release -p sluice-cli

.PHONY: run
run: ## a capture through tables on model and RTL, XDP programs, and rules for messages on both
	@$(MAKE) -j2 build plugin-default
	@tools/run.sh

# The only plug-in that `make run` needs; it is Verilated while Rust is compiled, which is the longer way and goes first.
.PHONY: plugin-default
plugin-default: venv
	@nice $(PYTHON) tools/plugin.py --jobs 2 default

# One recipe, so that `make lint test` is one schedule without phases.
.PHONY: lint test
lint: ## check formats, lints, generated files and elaboration
test: ## run every test: Rust, benches, scripts
lint test &: rust venv
	@$(PYTHON) tools/check.py $(filter lint test,$(MAKECMDGOALS))

.PHONY: test-changed
test-changed: rust venv ## lint and test, without what passed with the same inputs
	@$(PYTHON) tools/check.py lint test --changed

.PHONY: test-live
test-live: build ## XDP programs between network namespaces: live ping, TCP, UDP (root)
	@tools/with_python.sh tools/test_live.py

.PHONY: bench
bench: rust venv plugins-bench ## measure speeds
	@cargo bench --workspace

.PHONY: synth
synth: venv ## area, depth and ECP5 clock of the blocks, into docs/synth.md
	@$(PYTHON) tools/synth.py

.PHONY: synth-asic
synth-asic: venv ## area in standard cells (osu018), into docs/asic.md and docs/asic-l7.md
	@$(PYTHON) tools/asic.py

.PHONY: formal
formal: venv ## all proofs, into docs/formal.md
	@$(PYTHON) tools/formal.py

.PHONY: warp-proofs
warp-proofs: rust venv ## prove what Program Warping decides about the programs of programs/xdp
	@cargo build --quiet -p sluice-cli
	@$(PYTHON) tools/warp_proof.py

.PHONY: mutants
mutants: venv ## plant faults that proofs and benches must find, into docs/mutants.md
	@$(PYTHON) tools/mutants.py

.PHONY: fuzz
fuzz: rust venv ## every fuzz target for a minute, into docs/fuzz.md
	@$(PYTHON) tools/fuzz.py

# What runs at full length, and what of it on the bodies of synthesis, which there are plug-ins of for the tiny target only.
LONG_TESTS := $(addsuffix ::,lockstep random_lockstep throughput hitless conformance control isolation priority shares endurance plugin l7_nic attack xdp_endurance xdp_equality xdp_tenants l7_places l7_lockstep \
	l7_receive l7_sizes l7_update l7_nic_shares regrant xdp_nic_far)
SYNTHESIZED_TESTS := random_packets_agree_on_the_tiny_target random_packets_agree_on_the_bare_nic_of_the_tiny_target random_packets_agree_on_the_pipeline_alone_of_the_tiny_target \
	conformance::the_rtl_keeps_the_contract_with_stalls_everywhere conformance::rtl_and_model_in_lockstep hitless::replacements_on_a_small_table

.PHONY: long
long: rust venv plugins plugins-synthesized plugins-sizes ## the random and hitless runs at full length, benches at full size (hours)
	@SLUICE_SEED=$${SLUICE_SEED:-random} SLUICE_LONG=1 $(PYTHON) -m pytest -q -n 2 tb
	@SLUICE_SEED=$${SLUICE_SEED:-random} SLUICE_LONG=1 SLUICE_REQUIRE_PLUGINS=1 cargo test -p sluice-rtlsim --test all -- --nocapture $(LONG_TESTS)
	@SLUICE_SEED=$${SLUICE_SEED:-random} SLUICE_LONG=1 SLUICE_REQUIRE_PLUGINS=tiny SLUICE_PLUGIN_DIR=$(CURDIR)/build/plugins/synthesized cargo test -p sluice-rtlsim --test all -- --nocapture $(SYNTHESIZED_TESTS)
	@$(PYTHON) tools/long_scripts.py
	@cargo build --quiet -p sluice-cli
	@$(PYTHON) tools/warp_proof.py --long
	@$(PYTHON) tools/plugin.py rmt_wide
	@SLUICE_SEED=$${SLUICE_SEED:-random} SLUICE_LONG=1 SLUICE_REQUIRE_PLUGINS=wide cargo test -p sluice-rtlsim --test all the_pipeline_alone_of_the_wide_target -- --nocapture
	@$(PYTHON) tools/plugin.py probe_default probe_tiny
	@SLUICE_SEED=$${SLUICE_SEED:-random} SLUICE_LONG=1 SLUICE_REQUIRE_PLUGINS=1 cargo test -p sluice-probe
	@SLUICE_SEED=$${SLUICE_SEED:-random} SLUICE_LONG=1 cargo test -p sluice-rmt --test all fast_vs_spec:: -- --nocapture
	@SLUICE_SEED=$${SLUICE_SEED:-random} SLUICE_LONG=1 SLUICE_REQUIRE_PLUGINS=1 cargo test -p sluice-cli --test all -- --nocapture p4_random:: xdp_scripts::

.PHONY: gen
gen: rust ## write the generated packages and tables
	@cargo run --quiet -p sluice-formats --bin sluice-gen

.PHONY: programs
programs: ## the XDP objects of programs/xdp from their sources, where clang is installed
	@tools/with_python.sh tools/programs.py

.PHONY: plugins
plugins: venv ## the Verilated NICs and each engine alone, as plug-ins in build/plugins
	@$(PYTHON) tools/plugin.py --variant test $(CONFIGS) $(BARE_CONFIGS) $(WITH_CONFIGS) $(FAR_CONFIGS) $(RMT_CONFIGS) $(XDP_CONFIGS) $(L7_CONFIGS)
	@$(PYTHON) tools/plugin.py --variant trace tiny

.PHONY: plugins-waves
plugins-waves: venv ## the same with waves, for --waves (takes long)
	@$(PYTHON) tools/plugin.py --variant trace $(CONFIGS) $(RMT_CONFIGS)

.PHONY: plugins-bench
plugins-bench: venv ## the same built for speed, without assertions
	@$(PYTHON) tools/plugin.py --variant bench $(CONFIGS) $(RMT_CONFIGS) $(XDP_CONFIGS)

.PHONY: plugins-synthesized
plugins-synthesized: venv ## those of the tiny target with the bodies that synthesis gets
	@$(PYTHON) tools/plugin.py --variant synthesized tiny bare_tiny rmt_tiny

.PHONY: plugins-sizes
plugins-sizes: venv ## the l7 engine with other sizes than targets have
	@$(PYTHON) tools/plugin.py --set MessagePackets=255 l7_tiny
	@$(PYTHON) tools/plugin.py --set SLUICE_L7_COMPARE_BYTES=32 --set SLUICE_L7_ALTERNATIVES=8 --set SLUICE_L7_VIEW_SEGMENTS=24 l7_tiny

.PHONY: venv
venv: ## install the pinned tools into .venv
	@tools/with_python.sh tools/venv.py

.PHONY: rust
rust:
	@tools/prerequisites.sh rust

.PHONY: clean
clean: ## remove what was built; .venv stays (make clean-all)
	@rm -rf target build out .cache/sim .cache/formal .cache/synth .pytest_cache .ruff_cache

.PHONY: clean-all
clean-all: clean ## remove also the tools
	@rm -rf .venv .cache
