import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Endpoint } from '../lab/addresses.ts'

const run = promisify(execFile)
const CONNECTIONS = 16

export interface WrkOptions {
  readonly program: string
  readonly folder: string
  readonly server: Endpoint
  readonly host: string
  readonly seconds: number
  /** True: a new connection, and so a full handshake, for every request. */
  readonly handshakes: boolean
}

/** Requests per second over TLS. Rejects when an answer was not 2xx. */
export async function requestsPerSecond({ program, folder, server, host, ...options }: WrkOptions): Promise<number> {
  const script = join(folder, 'wrk.lua')
  // wrk asks for the name of its URL in the handshake. No resolver knows that name, so the script gives the address.
  writeFileSync(script, `function wrk.resolve() wrk.addrs = wrk.lookup("${server.address}", "${server.port}") end\n`)
  const headers = options.handshakes ? ['-H', 'Connection: close'] : []
  const args = ['-t1', `-c${CONNECTIONS}`, `-d${options.seconds}s`, '-s', script, ...headers]
  const { stdout } = await run(program, [...args, `https://${host}:${server.port}/`])
  return rateIn(stdout)
}

export function rateIn(output: string): number {
  const refused = /Non-2xx or 3xx responses: (\d+)/.exec(output)?.[1]
  if (refused !== undefined) throw new Error(`${refused} requests of wrk were not answered with 2xx.`)
  const rate = Number(/Requests\/sec:\s+([\d.]+)/.exec(output)?.[1])
  if (!(rate > 0)) throw new Error('wrk had no answer.')
  return rate
}
