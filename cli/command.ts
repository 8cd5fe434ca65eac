/** The shape of every verb of the command line. */

/** What a file in commands/ exports. */
export interface Command {
  /** Printed by `sluice <verb> --help`. */
  readonly help: string;
  /**
   * Does the work and returns the exit code. A verb that keeps running returns when it has stopped.
   * @throws UsageError for bad options (exit 2); SluiceError and Refused for what a person can mend (one line, exit 1).
   */
  run(args: string[]): Promise<number>;
}

/** The options make no sense. The message is one line without a full stop. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** Somebody else, such as the console, says no or says nothing: the command line was right. Only the first line is kept. */
export class Refused extends Error {
  override readonly name: string = "Refused";

  constructor(message: string, options?: ErrorOptions) {
    super(message.split("\n", 1)[0], options);
  }
}
