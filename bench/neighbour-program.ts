// A visitor of one host: RATE requests per second, each on a new TLS connection. Arguments: ADDRESS PORT HOST RATE.
// Prints two lines per request: the time at which it began; and that time, its milliseconds, and 1 if it was answered with 200.
import { request } from 'node:https'

const TIMEOUT_MS = 10_000
const [address = '', port = '', host = '', rate = ''] = process.argv.slice(2)

setInterval(visit, 1000 / Number(rate))

function visit(): void {
  const [at, started] = [Date.now(), performance.now()]
  process.stdout.write(`${at}\n`)
  const settle = (ok: boolean) => process.stdout.write(`${at} ${performance.now() - started} ${ok ? 1 : 0}\n`)
  const options = {
    address,
    port,
    servername: host,
    headers: { host },
    agent: false,
    rejectUnauthorized: false,
  } as const
  const asked = request({ ...options, host: address, path: '/', timeout: TIMEOUT_MS }, (answer) => {
    answer.resume()
    answer.once('end', () => settle(answer.statusCode === 200))
    answer.once('error', () => settle(false))
  })
  asked.once('timeout', () => asked.destroy(new Error('Timed out.')))
  asked.once('error', () => settle(false))
  asked.end()
}
