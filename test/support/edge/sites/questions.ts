import { request as requestPlainly } from 'node:http'
import { request as requestSecurely } from 'node:https'
import type { EdgeDescription } from '../../../../lab/description.ts'
import { answered } from '../../http/call.ts'

/** What visitors ask a host. */
const QUESTIONS = [
  { method: 'GET', path: '/healthz' },
  { method: 'GET', path: '/' },
  { method: 'HEAD', path: '/' },
  { method: 'GET', path: '/nowhere?a=b%20c' },
  { method: 'GET', path: '/a//b/%2e%2e/c' },
  { method: 'POST', path: '/' },
] as const

/** What nginx answers to every question, one line each, without what differs from moment to moment. */
export async function answersOf(edge: EdgeDescription, host: string, tls: boolean): Promise<string[]> {
  const lines: string[] = []
  for (const isSecure of tls ? [false, true] : [false])
    for (const { method, path } of QUESTIONS) lines.push(await answerTo(edge, host, isSecure, method, path))
  return lines
}

async function answerTo(edge: EdgeDescription, host: string, isSecure: boolean, method: string, path: string) {
  const { address, http, https } = edge
  const options = { host: address, path, method, headers: { host }, agent: false as const }
  const asking = isSecure
    ? requestSecurely({ ...options, port: https, servername: host, rejectUnauthorized: false })
    : requestPlainly({ ...options, port: http })
  const { status, headers, text } = await answered(asking, method === 'POST' ? 'x'.repeat(1000) : undefined)
  const { location = '', 'content-type': type = '', 'x-frame-options': frames = '' } = headers
  // nginx writes the page of a redirect itself.
  const body = location === '' ? text : ''
  return [`${isSecure ? 'https' : 'http'} ${method} ${path}`, status, location, type, frames, body].join(' | ')
}
