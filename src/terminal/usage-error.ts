/** The command line is wrong: an option is missing or invalid. */
export class UsageError extends Error {}
