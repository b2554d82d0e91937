import type { FastifyRequest } from 'fastify'

/** Our addresses need no other characters, so no second spelling of one ever reaches the router's answer. */
const PLAIN_PATH = /^\/[A-Za-z0-9._~/-]*$/

/** Stands in the log for an address in other characters: an escape could hide a secret from the scrubber. */
export const UNREADABLE = '(unreadable)'

export const isPlain = (request: FastifyRequest): boolean => PLAIN_PATH.test(pathOf(request))

/** The path as the log may show it: without its query. */
export const shownPath = (request: FastifyRequest): string => (isPlain(request) ? pathOf(request) : UNREADABLE)

const pathOf = ({ url }: FastifyRequest): string => url.split('?', 1)[0] ?? ''
