import type { FastifyRequest } from 'fastify'

/** The paths of this service use only these characters. Other paths are refused, so a path has only one spelling. */
const PLAIN_PATH = /^\/[A-Za-z0-9._~/-]*$/

/** The log shows this for a path with other characters, because an escape could hide a secret from the log's scrubber. */
export const UNREADABLE = '(unreadable)'

export const isPlain = (request: FastifyRequest): boolean => PLAIN_PATH.test(pathOf(request))

/** The path for the log, without its query. */
export const loggedPath = (request: FastifyRequest): string => (isPlain(request) ? pathOf(request) : UNREADABLE)

const pathOf = ({ url }: FastifyRequest): string => url.split('?', 1)[0] ?? ''
