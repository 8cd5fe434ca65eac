/**
 * The order in which Vitest starts the files: tests of processes mostly wait and the others mostly work, so they run beside each
 * other all the time, the large ones first. No test may depend on it.
 */
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** The group that waits, as vitest.config.ts names it. */
const WAITING_GROUP = "worker";

export class MixedSequencer extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const waiting = sorted.filter(({ project }) => project.name === WAITING_GROUP);
    const busy = sorted.filter(({ project }) => project.name !== WAITING_GROUP);
    const place = (list: readonly TestSpecification[]) =>
      list.map((file, index) => ({ file, at: (index + 0.5) / list.length }));
    return [...place(waiting), ...place(busy)].sort((one, two) => one.at - two.at).map(({ file }) => file);
  }
}
