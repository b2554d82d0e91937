/**
 * Per guard of README.md the text of its source file that has it, exactly once there, and the same text without it, which must compile.
 * A text alone is taken away.
 */
export type Cuts = Readonly<Record<string, string | readonly [from: string, to: string]>>
