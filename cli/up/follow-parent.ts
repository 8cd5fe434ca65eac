/**
 * Loaded into every child of `sluice up` before its own code: when the supervisor is gone, the child asks itself to
 * stop in its ordinary way. It must never keep a child alive.
 */
const LAST_RESORT_MS = 30_000;

if (process.channel) {
  process.once("disconnect", () => {
    process.kill(process.pid, "SIGTERM");
    setTimeout(() => process.kill(process.pid, "SIGKILL"), LAST_RESORT_MS).unref();
  });
  // A listener makes the channel count as work to wait for; ours is not.
  process.channel.unref();
}

export {};
