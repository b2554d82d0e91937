/** The command line itself is wrong: what was asked makes no sense, or says too little. */
export class UsageError extends Error {}

/** The person said no. */
export class Declined extends Error {}
