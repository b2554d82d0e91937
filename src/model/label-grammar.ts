/** One letter-digit-hyphen label in lower case. The page checks by it, too, and has no more of the host's platform than this. */
export const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/
