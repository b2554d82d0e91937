import { randomBytes } from 'node:crypto'
import type { TsigKeySettings } from '../../../src/dns/tsig.ts'
import type { Endpoint } from '../../../src/model/address.ts'

/** The zone of a real server: `key` may update it; the server also knows the key `stranger`, which may not. */
export interface ServedZone {
  readonly zone: string
  readonly key: TsigKeySettings
  readonly stranger: TsigKeySettings
}

/** A real server for one test. */
export interface ZoneHost {
  readonly endpoint: Endpoint
  readonly pid: number
  stop(): Promise<void>
}

export const randomKey = (name: string, algorithm: TsigKeySettings['algorithm'] = 'hmac-sha256'): TsigKeySettings => ({
  name,
  algorithm,
  secret: randomBytes(32).toString('base64'),
})
