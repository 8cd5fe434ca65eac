/** Part 1 of 4 of the seeds that `npm test` runs: they share the cores, and no seed knows of another. */
import { testSeeds } from "./test-seeds.ts";

testSeeds(1);
