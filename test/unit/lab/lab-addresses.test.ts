import { expect, test } from 'vitest'
import { addressesAt, DEFAULT_PLACE, listenersOf } from '../../../lab/addresses.ts'

const [dnsPorts, relayPorts] = [
  { primary: 6001, secondary: 6002 },
  { outside: 6003, inside: 6004 },
]
const elsewhere = { network: '127.9.8', dnsPorts, relayPorts }
const socketsAt = (place: typeof elsewhere) =>
  listenersOf(addressesAt(place)).map(({ address, port }) => `${address}:${port}`)

test('the usual place is the documented one', () =>
  expect(addressesAt(DEFAULT_PLACE)).toMatchObject({
    network: '127.0.45.0/24',
    service: { address: '127.0.45.23', port: 8045 },
    servers: { '23': '127.0.45.23', '25': '127.0.45.25', '253': '127.0.45.253', '73': '127.0.45.73' },
    dns: { primary: { address: '127.0.0.1', port: 5345 }, secondary: { address: '127.0.0.1', port: 5373 } },
    callers: { internal: '127.0.45.10', public: '127.0.0.1' },
    relays: { outside: { port: 8045, dialsFrom: '127.0.0.1' }, inside: { port: 8046, dialsFrom: '127.0.45.10' } },
  }))

test('no two parts of a lab want the same port', () => {
  const sockets = socketsAt(elsewhere)
  expect(new Set(sockets).size).toBe(sockets.length)
})

test('labs at two places share no port', () => {
  const taken = new Set(socketsAt({ ...DEFAULT_PLACE }))
  expect(socketsAt(elsewhere).filter((socket) => taken.has(socket))).toEqual([])
})
