/**
 * The pool as graphile-worker gets it. Its listener may give one connection back twice (stopped while the LISTEN of a
 * broken connection still runs); pg-pool throws then, in a promise that nobody awaits, and Node ends the process with
 * all that it has in flight. Nothing else of the pool may change here.
 */
import type { Pool, PoolClient } from "pg";

type Connected = (
  error: Error | undefined,
  client: PoolClient | undefined,
  release: (error?: Error | boolean) => void,
) => void;

/** The same pool, whose `connect` with a callback hands out a release that counts once. */
export function releasingOnce(pool: Pool): Pool {
  const connect = (callback?: Connected) => {
    if (callback === undefined) return pool.connect();
    return pool.connect((error, client, release) => callback(error, client, once(release)));
  };
  return new Proxy(pool, {
    get(target, key) {
      if (key === "connect") return connect;
      const value: unknown = Reflect.get(target, key, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

function once(release: (error?: Error | boolean) => void): typeof release {
  let isReleased = false;
  return (error) => {
    if (isReleased) return;
    isReleased = true;
    release(error);
  };
}
