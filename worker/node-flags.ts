/**
 * Node's own options for a worker process; whoever starts one passes them. They bound what V8 keeps, never what is in
 * flight: bodies lie outside of its heap and are bounded by the slots and the claim's byte budget.
 */

/**
 * On a large machine V8 lets its young generation grow to tens of megabytes and collects the old one late: 512 requests in
 * flight then take 360 MB of memory for 40 to 95 MB that are in use. The young generation is three of these semi-spaces.
 * The old generation's bound is a net, several times what 50,000 known lanes need; reaching it would end the process.
 */
export const WORKER_NODE_FLAGS = ["--max-semi-space-size=8", "--max-old-space-size=256"] as const;
