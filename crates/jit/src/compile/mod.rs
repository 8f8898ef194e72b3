//! From a program and what its analysis knows to machine code.

mod access;
mod alu;
mod branch;
mod call;
mod function;

use crate::Unsupported;
use crate::bind::Bound;
use crate::code::Code;
use crate::flow::{ARGUMENTS, CONTEXT, Flow, Function};
use cranelift_codegen::ir::{AbiParam, Signature, UserFuncName, types};
use cranelift_codegen::isa::CallConv;
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{FuncId, Linkage, Module, default_libcall_names};
use sluice_ebpf::Program;
use sluice_ebpf::analysis::{At, Base};
use std::collections::BTreeMap;

/// How code is made: `speed` takes a third longer than `none`, and its code less time.
const FLAGS: [(&str, &str); 4] =
    [("opt_level", "speed"), ("enable_verifier", "false"), ("enable_probestack", "false"), ("unwind_info", "false")];

/// What every function of a program is compiled with.
struct Context<'a> {
    flow: &'a Flow,
    /// By slot; empty where nothing is known.
    known: &'a [At],
    maps: &'a [Bound],
    /// By first slot: the function, and the bytes of its frame that it writes to.
    functions: BTreeMap<u32, (FuncId, u16)>,
}

/// Compiles all functions of a program that was validated. `known` is what the analysis found, without which every access is
/// checked; `maps` are those of its image.
pub fn compile(program: &Program, known: Option<&[At]>, maps: &[Bound]) -> Result<Code, Unsupported> {
    let failed = |error: &dyn std::fmt::Display| Unsupported::Generator(error.to_string());
    let flow = Flow::new(program, if known.is_some() { CONTEXT } else { ARGUMENTS })?;
    let known = known.unwrap_or_default();
    let builder = JITBuilder::with_flags(&FLAGS, default_libcall_names()).map_err(|e| failed(&e))?;
    let mut module = JITModule::new(builder);
    let signature = signature();
    let mut functions = BTreeMap::new();
    for function in flow.functions.values() {
        let name = format!("f{}", function.start);
        let id = module.declare_function(&name, Linkage::Local, &signature).map_err(|e| failed(&e))?;
        functions.insert(function.start, (id, written(function, known)));
    }
    let context = Context { flow: &flow, known, maps, functions };
    let mut bytes = 0;
    let mut compiled = module.make_context();
    let mut builders = FunctionBuilderContext::new();
    for function in flow.functions.values() {
        let (id, _) = context.functions[&function.start];
        compiled.func.signature = signature.clone();
        compiled.func.name = UserFuncName::user(0, id.as_u32());
        let callees = callees(&context, &mut module, &mut compiled.func, function);
        let builder = FunctionBuilder::new(&mut compiled.func, &mut builders);
        function::Body::new(&context, builder, function, callees).compile()?.finalize(module.target_config());
        module.define_function(id, &mut compiled).map_err(|e| failed(&e))?;
        bytes += compiled.compiled_code().map_or(0, |code| code.code_info().total_size as usize);
        module.clear_context(&mut compiled);
    }
    Code::new(module, &context.functions, bytes).map_err(Unsupported::Generator)
}

/// The frame and r1 to r5; r0 and a status.
fn signature() -> Signature {
    let mut signature = Signature::new(CallConv::SystemV);
    signature.params.extend([AbiParam::new(types::I64); 6]);
    signature.returns.extend([AbiParam::new(types::I64); 2]);
    signature
}

/// The functions that one calls, by first slot.
fn callees(
    context: &Context<'_>,
    module: &mut JITModule,
    within: &mut cranelift_codegen::ir::Function,
    function: &Function,
) -> BTreeMap<u32, cranelift_codegen::ir::FuncRef> {
    let slots = function.blocks.values().flat_map(|block| &block.slots);
    let called = slots.filter_map(|slot| context.flow.callee_of_call(*slot));
    let mut callees = BTreeMap::new();
    for start in called {
        callees.entry(start).or_insert_with(|| {
            let callee = module.declare_func_in_func(context.functions[&start].0, within);
            // Each function has pages of its own, that may be far apart.
            within.dfg.ext_funcs[callee].colocated = false;
            callee
        });
    }
    callees
}

/// Bytes of its stack frame that a function writes to at places that are known, counted from the end.
fn written(function: &Function, known: &[At]) -> u16 {
    let slots = function.blocks.values().flat_map(|block| &block.slots);
    let lowest = slots.filter_map(|slot| {
        let at = known.get(*slot as usize)?;
        let access = at.access.as_ref().filter(|access| access.in_bounds)?;
        let own = at.before.as_ref()?[10].base;
        (matches!(own, Base::Stack(_)) && access.address.base == own)
            .then(|| access.offsets().map_or(-512, |(low, _)| low))
    });
    lowest.min().map_or(0, |low| (-low).clamp(0, 512) as u16)
}
