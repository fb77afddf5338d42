"""The texts that a redacted profile keeps: those that XProf itself gives a meaning, and nobody's own.

Closed lists, in words of XLA (opcodes, types of elements, xplane_schema.cc), of JAX and TensorFlow (their
public primitives and kinds of ops) and of CUPTI. Whatever is not here is replaced; a text that is missing
costs a column in some tool, one that is here too much would cost a secret. So nothing is added that a person
could have chosen as a name for something of his own, unless XProf needs it.
"""

from __future__ import annotations

import re

_OPCODES = """
abs acos acosh add add-dependency after-all all-gather all-gather-done all-gather-start all-reduce
all-reduce-done all-reduce-start all-to-all and asin asinh async-done async-start async-update atan2 atanh
batch-norm-grad batch-norm-inference batch-norm-training bitcast bitcast-convert broadcast call cbrt ceil
cholesky clamp collective-broadcast collective-permute collective-permute-done collective-permute-start
compare complex concatenate conditional constant convert convolution copy copy-done copy-start cosh cosine
count-leading-zeros custom-call divide domain dot dynamic-reshape dynamic-slice dynamic-update-slice erf
exponential exponential-minus-one fft floor fusion gather get-dimension-size get-tuple-element imag infeed
iota is-finite log log-plus-one logistic map maximum minimum multiply negate not opt-barrier
optimization-barrier or outfeed pad parameter partition-id popcnt power ragged-all-to-all ragged-dot real
recv recv-done reduce reduce-precision reduce-scatter reduce-window remainder replica-id reshape reverse rng
rng-bit-generator rng-get-and-update-state round-nearest-afz round-nearest-even rsqrt scan scatter select
select-and-scatter send send-done set-dimension-size shift-left shift-right-arithmetic shift-right-logical
sign sine sinh slice sort sqrt stochastic-convert subtract tan tanh topk transpose triangular-solve tuple
while xor
"""
_ELEMENTS = """
pred s1 s2 s4 s8 s16 s32 s64 u1 u2 u4 u8 u16 u32 u64 f16 f32 f64 bf16 c64 c128 token opaque
f8e5m2 f8e4m3 f8e4m3fn f8e4m3b11fnuz f8e5m2fnuz f8e4m3fnuz f8e3m4 f8e8m0fnu f4e2m1fn
"""
_HLO = """
ROOT index entry main fused computation fused_computation region body cond condition branch param arg
wrapped loop input output clone remat remat2 custom nested cluster sunk async kLoop kInput kOutput kCustom
EQ NE GE GT LE LT FLOAT TOTALORDER SIGNED UNSIGNED T S L D E M Sharding SPMDFullToShardShape
SPMDShardToFullShape TopK tpu_custom_call AllocateBuffer __cublas$gemm __cublas$lt$matmul
__cudnn$convForward __cudnn$convBackwardInput __cudnn$convBackwardFilter __cudnn$convBiasActivationForward
__triton_gemm __triton$ host sparsecore
"""
_JAX = """
jit pjit pmap xla_call shard_map jvp vmap transpose checkpoint rematted_computation custom_jvp_call
custom_vjp_call custom_vjp_call_jaxpr core_call closed_call named_call scan while cond body abs add add_any
all_gather all_to_all and argmax argmin axis_index bitcast_convert_type broadcast_in_dim cbrt ceil clamp
concatenate conv_general_dilated convert_element_type copy copy_p cos cumlogsumexp cummax cummin cumprod
cumsum custom_partitioning device_put digamma div dot_general dynamic_slice dynamic_update_slice eq erf
erf_inv exp exp2 expm1 fft floor full gather ge gt imag integer_pow iota is_finite lax le lgamma log log1p
logistic lt max min mul ne neg nextafter not optimization_barrier or pad pallas_call population_count pow
ppermute psum psum_scatter random_bits random_seed random_unwrap random_wrap real reduce_and reduce_max
reduce_min reduce_or reduce_precision reduce_prod reduce_scatter reduce_sum reduce_window_sum rem reshape
rev rng_bit_generator round rsqrt scatter scatter-add scatter-mul select_and_gather_add
select_and_scatter_add select_n shift_left shift_right_logical sign sin slice sort split sqrt square squeeze
stop_gradient sub tan tanh threefry2x32 top_k triangular_solve xor PjitFunction
"""
_TENSORFLOW = """
Add AddV2 AddN All Any ArgMax AssignAddVariableOp AssignVariableOp AvgPool BatchMatMul BatchMatMulV2
BatchMatMulV3 BiasAdd BiasAddGrad Cast Concat ConcatV2 Const Conv2D Conv2DBackpropFilter Conv2DBackpropInput
Conv3D CudnnRNN CudnnRNNBackprop CudnnRNNForward DepthwiseConv2dNative Einsum Equal Exp ExpandDims Fill
FusedBatchNorm FusedBatchNormV3 FusedBatchNormGradV3 FusedMatMul Gather GatherV2 Greater GreaterEqual
Identity InfeedDequeueTuple IteratorGetNext Less LessEqual Log LogSoftmax MatMul Max MaxPool Maximum Mean
Min Minimum Mul Neg NoOp OneHot OutfeedEnqueueTuple Pack Pad PadV2 PartitionedCall Placeholder Pow Prod
ReadVariableOp RealDiv Relu ReluGrad Reshape ResourceApplyAdam ResourceApplyGradientDescent Rsqrt Select
SelectV2 Shape Sigmoid Slice Softmax Split SplitV Sqrt Square SquaredDifference Squeeze
StatefulPartitionedCall StridedSlice Sub Sum Switch Tanh Tile TopKV2 Transpose Unpack While XlaLaunch
ZerosLike Iterator
"""
_COPIES = """
MemcpyH2D MemcpyD2H MemcpyD2D MemcpyP2P MemcpyH2H MemcpyHToD MemcpyDToH MemcpyDToD MemcpyHToH MemcpyPToP
MEMCPYHtoD MEMCPYDtoH MEMCPYDtoD MEMCPYHtoH MEMCPYPtoP MEMCPYHToD MEMCPYDToH MEMCPYDToD MEMCPYHToH Memcpy
Memset
"""
_REGIONS = "temp output persist dynamic IDLE cpu Nvidia AMD Unknown unknown MegaScale end"

WORDS = frozenset(
    " ".join((_OPCODES, _ELEMENTS, _HLO, _JAX, _TENSORFLOW, _COPIES, _REGIONS)).split()
)
"""Words that keep their meaning wherever they stand."""

ITERATOR = "Iterator::"
"""What the names of tf.data's iterators begin with."""
_ITERATORS = """
Iterator Root Prefetch Generator Map MapV2 ParallelMap ParallelMapV2 BatchV2 ParallelBatch Shuffle ShuffleV3
Repeat Interleave ParallelInterleave ParallelInterleaveV4 TFRecord TensorSlice Zip FlatMap Filter FiniteTake
Options Model MaxIntraOpParallelism PrivateThreadPool MapAndBatch FilePattern ShardDataset Dataset
"""
ITERATORS = frozenset(_ITERATORS.split())
"""Their kinds, which keep their meaning in such a name only: people call other things so, too."""

_STATS = """
UnknownStatType id device_ordinal chip_ordinal node_ordinal model_id queue_id queue_addr request_id run_id
replica_id graph_type step_num iter_num index_on_host allocator_name bytes_reserved bytes_allocated
bytes_available fragmentation peak_bytes_in_use requested_bytes allocation_bytes addr region_type data_type
layout kpi_name kpi_value element_id parent_id core_type _pt _ct _p _c _r _a _src _ipl_stage_id
_ipl_stage_name _ipl_stage_cat stage_id device_id device_type_string context_id correlation_id
memcpy_details memalloc_details MemFree_details Memset_details MemoryResidency_details nvtx_range
kernel_details stream group_id flow step_name tf_op hlo_op deduplicated_name hlo_category hlo_module
program_id equation is_eager is_func tf_function_call tracing_count flops model_flops bytes_accessed
raw_bytes_accessed memory_access_breakdown shape_with_layout source source_stack model_name model_version
bytes_transferred queue dcn_collective_info hlo_proto long_name tf_op_name clock_rate core_count
memory_bandwidth memory_size compute_cap_major compute_cap_minor device_vendor peak_teraflops_per_second
peak_hbm_bw_gigabytes_per_second peak_sram_rd_bw_gigabytes_per_second peak_sram_wr_bw_gigabytes_per_second
peak_cmem_rd_bw_gigabytes_per_second peak_cmem_wr_bw_gigabytes_per_second
peak_vmem_rd_bw_gigabytes_per_second peak_vmem_wr_bw_gigabytes_per_second peak_sc_teraflops_per_second
has_megacore has_merged_vmem core_details batch_size_after_padding padding_amount batching_input_task_size
theoretical_occupancy_pct occupancy_min_grid_size occupancy_suggested_block_size self_duration_ps
min_duration_ps total_profile_duration_ps max_iteration_num device_type uses_megacore symbol_id
dma_stall_duration_ps key payload_size_bytes duration_us buffer_size transfers dcn_label dcn_source_slice_id
dcn_source_per_slice_device_id dcn_destination_slice_id dcn_destination_per_slice_device_id dcn_chunk
dcn_loop_index dropped_traces cuda_graph_id cuda_graph_exec_id cuda_graph_orig_id cuda_graph_node_id
cuda_graph_map_id device_offset_ps device_duration_ps global_chip_id gpu_device_name process_id
counter_value all_reduce_id all_reduce_unique_id bandwidth profile_start_time profile_stop_time jax_version
jaxlib_version libtpu_version cuda_version cuda_driver_version cuda_runtime_version rendezvous shape
matrix_unit_utilization_percent hbm_utilization_percent performance_counter_id
performance_counter_description performance_counter_sets offload_core_id offload_execution_index
transaction_with_chip_core_id tc_offload_start_id peak_spmem_rd_bw_gigabytes_per_second
peak_spmem_wr_bw_gigabytes_per_second cuda_orig_graph_id unique_hlo_op_id duration_ns profile_options
cpu_version
"""
_EVENTS = """
TraceContext SessionRun FunctionRun RunGraph RunGraphDone TfOpRun EagerKernelExecute EagerLocalExecute
EagerExecute ExecutorState::Process ExecutorDoneCallback MemoryAllocation MemoryDeallocation RemoteCall
InstantiatedCapturedFunction::Run IteratorGetNextOp::DoCompute IteratorGetNextAsOptionalOp::DoCompute
Iterator::Prefetch::Generator PrefetchProduce PrefetchConsume ParallelInterleaveProduce
ParallelInterleaveConsume ParallelInterleaveInitializedInput ParallelMapProduce ParallelMapConsume
MapAndBatchProduce MapAndBatchConsume ParseExampleProduce ParseExampleConsume ParallelBatchProduce
ParallelBatchConsume BatchingSessionRun ProcessBatch BrainSessionRun ConcatInputTensors MergeInputTensors
ScheduleWithoutSplit ScheduleWithSplit ScheduleWithEagerSplit ASBSQueue::Schedule TfrtModelRun
ServingModelRun KernelLaunch KernelExecute TpuExecuteOp DoEnqueueProgram DoEnqueueContinuationProgram
WriteHbm ReadHbm CompleteCallbacks PjrtAsyncWait tpu::System::Execute
tpu::System::TransferToDevice=>IssueEvent tpu::System::TransferToDevice=>IssueEvent=>Done
tpu::System::TransferFromDevice=>IssueEvent tpu::System::TransferFromDevice=>IssueEvent=>Done
TpuExecutorExecute pjrt_library_call OnDeviceSendRequestMulti HostCallback InfeedEnqueue LinearizeX
Delinearize TransferLiteralToInfeed ThunkExecutor::Execute ThreadpoolListener::Record
ThreadpoolListener::StartRegion ThreadpoolListener::StopRegion ParseArguments CommonPjRtBuffer::Await
CommonPjRtClient::CreateOutputs
"""
_CATEGORIES = """
convolution fusion;loop fusion;input fusion;output fusion;custom fusion;non-fusion elementwise
data formatting;async-start;async-done;host send;host send-done;host recv;host recv-done;copy fusion
all-reduce fusion;all-gather fusion;reduce-scatter fusion;collective fusion;sort fusion;scatter fusion
gather fusion;dynamic-update-slice fusion;megacore fusion;rng fusion;dot fusion;pad fusion;unknown category
"""
_PLACES = """
/host:CPU;/host:metadata;/host:CUPTI;/host:GPU;/host:TFStreamz;/host:python-tracer;/host:roctracer;/host:syscalls
Task Environment;/device:CUSTOM:Megascale Trace;Hlo Proto
XLA Modules;XLA Ops;Async XLA Ops;XLA TraceMe;Steps;Step;Framework Ops;Framework Name Scope;Source code
TensorFlow Ops;TensorFlow Name Scope;Launch Stats;Counters;Scalar Unit;TensorCore;SparseCore;Sparse Core Ops
python;python3;main;HLO Modules;HLO Ops
ThunkExecutor::Execute (wait for completion);Wait for usage holds;Wait for donation holds;Handle inputs
"""


def _texts(lines: str) -> list[str]:
    return [text.strip() for line in lines.strip().splitlines() for text in line.split(";")]


TEXTS = frozenset((*_STATS.split(), *_EVENTS.split(), *_texts(_CATEGORIES), *_texts(_PLACES)))
"""Texts that are kept when they stand alone."""

_THREADS = (
    "python3?|main|tf_XLAEigen|tf_XLAPjRtCpuClient|tf_XLATpuClient|tf_Compute|tf_data_private_threadpool|"
    "tf_data_iterator_get_next|tf_allocator"
)
_STREAM = r"Compute|Memcpy[HDP]2[HDP]|Memset|MemcpyP2P|MemoryAlloc|Others?"
_LAUNCH = (
    "regs|registers_per_thread|static_shared|dynamic_shared|static_shared_memory|dynamic_shared_memory|"
    "grid|block|kind|kind_src|kind_dst|size|dest|async|num_bytes|value|addr|stream"
)
_MEMORIES = "pinned|pageable|device|array|managed|device_static|managed_static|unknown|invalid"
PATTERNS = re.compile(
    rf"""
    \d{{1,12}}                                                  # a number, as of a step
  | \[[\d,]{{0,200}}\]                                          # a shape
  | /device:(?:TPU|GPU|CPU|XLA_CPU|XLA_GPU):\d{{1,6}}(?:\ SparseCore\ \d{{1,6}})?
  | Stream\ \#\d{{1,10}}(?:\((?:{_STREAM})(?:,\ ?(?:{_STREAM}))*\))?
  | TPU\ v\d{{1,2}}[a-z]?(?:\ [Ll]ite)?
  | (?:{_THREADS})(?:/-?\d{{1,20}})?
  | (?:(?:{_LAUNCH}):(?:\d[\d,]{{0,60}}|{_MEMORIES})\ ?|occ_pct:\d{{1,3}}(?:\.\d+)?\ ?){{1,12}}
    """,
    re.VERBOSE,
)
"""Texts of numbers and such words that are kept when they match as a whole."""

TENSOR_CORE_MARKS = (
    *("xmma_gemm", "xmma_implicit_gemm", "xmma_sparse_conv", "xmma_sparse_gemm"),
    *("xmma_warp_specialized_implicit_gemm", "hmma", "xmma", "16816", "1688", "884"),
)
"""What XProf looks for in a kernel's name to see whether it uses tensor cores."""

FILE_ENDINGS = (".py", ".cc", ".cpp", ".cu", ".h")
