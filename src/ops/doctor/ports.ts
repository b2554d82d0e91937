import { createServer } from 'node:net'
import { type Endpoint, formatEndpoint } from '../../model/address.ts'
import { socketOwners } from '../socket-owner.ts'
import { type Finding, fault, ok, reasonOf } from './finding.ts'

/** A place where we, or an edge, listen. */
export interface Listener extends Endpoint {
  readonly subject: string
  /** Whether it is ours already: the service itself, or the nginx of the edge. Asked only when the port is taken. */
  readonly isOurs: (owners: readonly number[]) => Promise<boolean>
}

export async function examineListener(listener: Listener): Promise<Finding> {
  const { subject, address, port, isOurs } = listener
  const place = formatEndpoint(listener)
  const code = await bindingError(listener)
  if (code === undefined) return ok(subject, `${place} is free.`)
  if (code === 'EADDRNOTAVAIL') {
    return fault(subject, `${address} is no address of this machine.`, 'Correct it in the configuration.')
  }
  if (code === 'EACCES') {
    const fix = 'Run as root, or allow the port with the capability CAP_NET_BIND_SERVICE.'
    return fault(subject, `This user may not listen on ${place}.`, fix)
  }
  if (code !== 'EADDRINUSE') return fault(subject, `${place} cannot be had (${code}).`, 'See the system log.')
  const owners = socketOwners(address, port)
  if (await isOurs(owners.map(({ pid }) => pid))) return ok(subject, `${place} is ours already.`)
  const [owner] = owners
  const who = owner ? `${owner.program} (pid ${owner.pid})` : 'another program'
  return fault(subject, `${place} is taken by ${who}.`, `Stop it, or choose another port in the configuration.`)
}

function bindingError({ address, port }: Endpoint): Promise<string | undefined> {
  const server = createServer()
  return new Promise((resolve) => {
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? reasonOf(error)))
    server.listen(port, address, () => server.close(() => resolve(undefined)))
  })
}
