// The names in an edge's folder that the engine uses itself. What the web server reads there is in estate/layout.ts.
/** Drafts of files and test configurations. The dot keeps the folder out of every include. */
export const STAGING = '.staging'
/** The fences of all hosts. The dot keeps the file out of every include. It outlives an undo and a restore. */
export const FENCES = '.fences'
/** What an agent has written beside the folder and may undo. The dot keeps the file out of every include. */
export const OUTSIDE_NOTES = '.outside'
/** Locked by the process that owns the edge. The dot keeps the file out of every include. */
export const LOCK = '.engine-lock'
/** Certificates with their keys, each a folder with its id as the name. */
export const PAIRS = 'pairs'
/** The generations, each a folder with its number as the name. */
export const GENERATIONS = 'generations'
/** A link to the folder of the present generation, for people. */
export const CURRENT = 'current'

/** Parents before their subfolders, each with its mode. */
export const FOLDERS: readonly { readonly path: string; readonly mode: number }[] = [
  { path: '', mode: 0o755 },
  { path: GENERATIONS, mode: 0o755 },
  { path: PAIRS, mode: 0o700 },
  { path: STAGING, mode: 0o700 },
]
