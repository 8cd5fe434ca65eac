/** Settings of a worker: defaults, bounds, one clear message that never holds a value that is secret. */
import { describe, expect, it } from "vitest";
import { TEST_SECRET_KEYS } from "#tests/support/factories.ts";
import { ALL_ON, readWorkerSettings, widenThreadPool } from "./config.ts";

const ENV = {
  DATABASE_URL_US: "postgres://u:pw-marker@127.0.0.1:1/db",
  SLUICE_SECRET_KEYS: TEST_SECRET_KEYS,
};

describe("readWorkerSettings", () => {
  it("has defaults for everything but the database and the keys", () => {
    const { keyring, ...settings } = readWorkerSettings("us", ENV);
    expect(keyring).toBeDefined();
    expect(settings).toEqual({
      region: "us",
      connectionString: ENV.DATABASE_URL_US,
      directConnectionString: ENV.DATABASE_URL_US,
      slots: 512,
      drainMs: 8_000,
      probeMs: 250,
      healthPort: null,
      sendingRules: { allow: [], plainHttp: false },
      logLevel: "info",
      switches: ALL_ON,
    });
  });

  it("reads every setting", () => {
    const settings = readWorkerSettings("us", {
      ...ENV,
      SLUICE_DIRECT_DATABASE_URL: "postgres://direct/db",
      SLUICE_SLOTS: "8",
      SLUICE_DRAIN_MS: "100",
      SLUICE_PROBE_MS: "1000",
      SLUICE_WORKER_HEALTH_PORT: "0",
      SLUICE_LOG_LEVEL: "warn",
      SLUICE_WORKER_OFF: "probe, listen",
      SLUICE_ALLOW_ADDRESSES: "10.0.0.0/8:8080",
      SLUICE_PLAIN_HTTP: "true",
    });
    expect(settings).toMatchObject({
      directConnectionString: "postgres://direct/db",
      slots: 8,
      drainMs: 100,
      probeMs: 1_000,
      healthPort: 0,
      logLevel: "warn",
      switches: { ...ALL_ON, probe: false, listen: false },
      sendingRules: { allow: [{ prefixBits: 8, ports: { from: 8080, to: 8080 } }], plainHttp: true },
    });
  });

  it.each([
    [{ SLUICE_SLOTS: "0" }, /SLUICE_SLOTS/],
    [{ SLUICE_SLOTS: "many" }, /SLUICE_SLOTS/],
    [{ SLUICE_PROBE_MS: "1" }, /SLUICE_PROBE_MS/],
    [{ SLUICE_DRAIN_MS: "-1" }, /SLUICE_DRAIN_MS/],
    [{ SLUICE_ALLOW_ADDRESSES: "0.0.0.0/0" }, /SLUICE_ALLOW_ADDRESSES: "0.0.0.0\/0" needs a prefix/],
    [{ SLUICE_ALLOW_ADDRESSES: "example.com" }, /SLUICE_ALLOW_ADDRESSES/],
    [{ SLUICE_PLAIN_HTTP: "yes" }, /SLUICE_PLAIN_HTTP/],
    [{ SLUICE_LOG_LEVEL: "loud" }, /SLUICE_LOG_LEVEL/],
    [{ SLUICE_WORKER_OFF: "everything" }, /everything is none of probe/],
    [{ DATABASE_URL_US: "" }, /DATABASE_URL_US is not set/],
    [{ DATABASE_URL_US: "mysql://u:pw-marker@h/d" }, /DATABASE_URL_US is not a Postgres URL/],
    [{ SLUICE_SECRET_KEYS: "" }, /SLUICE_SECRET_KEYS is not set/],
    [{ SLUICE_SECRET_KEYS: "test:a2V5LW1hcmtlcg==" }, /./],
  ])("REG-2 refuses %j, naming the setting and no value", (wrong, message) => {
    const read = () => readWorkerSettings("us", { ...ENV, ...wrong });
    expect(read).toThrow(message);
    try {
      read();
    } catch (error) {
      expect(String(error)).not.toMatch(/pw-marker|a2V5LW1hcmtlcg/);
    }
  });

  it("REG-1 needs no setting of the other region", () => {
    expect(() => readWorkerSettings("eu", ENV)).toThrow(/DATABASE_URL_EU is not set/);
    expect(readWorkerSettings("us", ENV).region).toBe("us");
  });
});

describe("widenThreadPool", () => {
  it("makes room for names that are slow to resolve, unless somebody chose a size", () => {
    const env: Record<string, string | undefined> = {};
    widenThreadPool(env);
    expect(env).toEqual({ UV_THREADPOOL_SIZE: "64" });
    const chosen = { UV_THREADPOOL_SIZE: "16" };
    widenThreadPool(chosen);
    expect(chosen).toEqual({ UV_THREADPOOL_SIZE: "16" });
  });
});
