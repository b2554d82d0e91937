import type { ExposureOptions } from './grammar.ts'

/**
 * The statuses beside 2xx with which the edge itself answers a visitor without a password or from another network, or every visitor
 * during maintenance. They show that the entry works, and say nothing about the backend.
 */
export const statusesOf = ({ allow, basicAuth, maintenance }: ExposureOptions = {}): readonly number[] => [
  ...(basicAuth === undefined ? [] : [401]),
  ...(allow ? [403] : []),
  ...(maintenance ? [503] : []),
]
