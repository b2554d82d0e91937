import type { Machine } from './machine.ts'

/** As often as the service compares its edges with its store in an hour. */
const TIMES = 180
const DUTIES = ['recover', 'converge', 'expire', 'renew', 'marks', 'prune']

/** One request after the other to the control socket of the service. Prints each sentence of their reports once. */
const ASK = `import { connect } from 'node:net'
const request = JSON.stringify({ ask: 'housekeeping', duties: ${JSON.stringify(DUTIES)} })
const ask = () =>
  new Promise((resolve, reject) => {
    let text = ''
    const socket = connect('/var/lib/drawbridge/control.sock', () => socket.write(request + '\\n'))
    socket.on('data', (part) => (text += part)).on('error', reject).on('close', () => resolve(text))
  })
const told = new Set()
for (let time = 1; time <= ${TIMES}; time += 1)
  for (const line of (await ask()).trim().split('\\n')) told.add(JSON.parse(line).sentence)
for (const sentence of told) if (sentence) console.log(sentence)
`

/** The duties of an hour without the hour. Resolves with what they told. */
export async function hourOfDuties(machine: Machine): Promise<string[]> {
  await machine.write('/root/hour.mjs', ASK)
  const told = await machine.done('/usr/lib/drawbridge/node/bin/node /root/hour.mjs', { seconds: 300 })
  return told.trim().split('\n')
}
