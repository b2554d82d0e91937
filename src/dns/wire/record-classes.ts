export const CLASS_IN = 1
/** In an UPDATE: "none of this", or "take exactly this away" (RFC 2136 sections 2.4 and 2.5). */
export const CLASS_NONE = 254
export const CLASS_ANY = 255
