import { randomBytes } from 'node:crypto'
import type { TsigKeySettings } from '../../../src/dns/tsig.ts'
import type { Endpoint } from '../../../src/model/address.ts'

/** What a real server is to serve: a zone that `key` may update and `stranger`, a key that it knows as well, may not. */
export interface ServedZone {
  readonly zone: string
  readonly key: TsigKeySettings
  readonly stranger: TsigKeySettings
}

/** A real server of a test's own. */
export interface ZoneHost {
  readonly endpoint: Endpoint
  stop(): Promise<void>
}

export const randomKey = (name: string, algorithm: TsigKeySettings['algorithm'] = 'hmac-sha256'): TsigKeySettings => ({
  name,
  algorithm,
  secret: randomBytes(32).toString('base64'),
})
