import { expect, test } from 'vitest'
import { ownAddress } from '../../../src/runtime/own-address.ts'

const SERVERS = ['192.168.45.23', '192.168.45.25']

test.each([
  ['192.168.45.23', ['10.0.0.5', '192.168.45.23'], '192.168.45.23'],
  ['0.0.0.0', ['10.0.0.5', '192.168.45.25'], '192.168.45.25'],
  ['::', ['10.0.0.5', '10.0.0.6'], '10.0.0.5'],
  ['0.0.0.0', [], '0.0.0.0'],
])('a service that listens on %s of a machine with %j is found at %s', (listens, own, found) =>
  expect(ownAddress(listens, SERVERS, own)).toBe(found),
)
