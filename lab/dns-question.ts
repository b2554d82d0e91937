import { createSocket } from 'node:dgram'

const SOA = 6
const CLASS_IN = 1
const AUTHORITATIVE = 0x0400
const RCODE_MASK = 0x000f

const TIMEOUT_MS = 200

/** Whether the DNS server on this port is authoritative for the zone. No answer counts as no. */
export const answersForZone = (port: number, zone: string, address = '127.0.0.1'): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = createSocket('udp4')
    const settle = (answer: boolean) => {
      clearTimeout(timer)
      socket.close()
      resolve(answer)
    }
    const timer = setTimeout(() => settle(false), TIMEOUT_MS)
    socket.once('error', () => settle(false))
    socket.once('message', (message) => settle(isAuthoritative(message)))
    socket.connect(port, address, () => socket.send(soaQuestion(zone)))
  })

function isAuthoritative(message: Buffer): boolean {
  if (message.length < 12) return false
  const flags = message.readUInt16BE(2)
  return (flags & AUTHORITATIVE) !== 0 && (flags & RCODE_MASK) === 0
}

function soaQuestion(zone: string): Buffer {
  const header = Buffer.from([0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0])
  const labels = zone.split('.').map((label) => Buffer.concat([Buffer.from([label.length]), Buffer.from(label)]))
  return Buffer.concat([header, ...labels, Buffer.from([0, 0, SOA, 0, CLASS_IN])])
}
