// The first process of a machine: it starts and stops the parts, as children of its own in the machine's namespaces.
// Arguments: STATE and the machine's id. It ends with everything on it when its parent goes away.
import type { Daemon } from '../lab/daemon.ts'
import { Supervised } from '../lab/supervised.ts'
import type { Order, Report } from './machine.ts'
import { mountMachine } from './mounts.ts'
import { type Environment, type Part, partsIn } from './parts.ts'
import { pathsIn } from './paths.ts'
import type { MachineId } from './plan.ts'

const PAUSE_MS = 500
const RESTARTS_ALLOWED = 100

const [, , state = '', id = ''] = process.argv
const machine = id as MachineId
const paths = pathsIn(state)
const running = new Map<string, Running>()

/** One part, running or not. */
interface Running {
  start(environment: Environment): Promise<void>
  stop(): Promise<void>
}

function report(message: Report): void {
  if (process.connected) process.send?.(message)
}

function track(part: string, daemon: Daemon): void {
  report({ kind: 'up', part, pid: daemon.pid })
  void daemon.exited.then(() => report({ kind: 'down', part, pid: daemon.pid, lastOutput: daemon.lastOutput() }))
}

function supervised(name: string, part: Part): Running {
  let current: Daemon | undefined
  let forFirst: Environment = {}
  const process = new Supervised({
    name: `${name} on ${machine}`,
    start: (isRestart) => part.start(isRestart, isRestart ? {} : forFirst),
    pauseMs: PAUSE_MS,
    deathsAllowed: RESTARTS_ALLOWED,
    onStart: (daemon) => {
      current = daemon
      track(name, daemon)
    },
    onGiveUp: ({ message }) => report({ kind: 'gave-up', part: name, sentence: message }),
  })
  return {
    async start(environment) {
      assertStopped(name, current)
      // It may be about to start again.
      await process.stop()
      forFirst = environment
      await process.start()
    },
    stop: () => process.stop(),
  }
}

function assertStopped(name: string, daemon: Daemon | undefined): void {
  if (daemon?.isAlive()) throw new Error(`${name} on ${machine} already runs (pid ${daemon.pid}).`)
}

function unsupervised(name: string, part: Part): Running {
  let daemon: Daemon | undefined
  const stop = async () => {
    await daemon?.stop()
    endGroup(daemon)
    daemon = undefined
  }
  return {
    async start(environment) {
      assertStopped(name, daemon)
      await stop()
      daemon = await part.start(false, environment)
      track(name, daemon)
    },
    stop,
  }
}

/** Ends workers that outlived a killed master: they would keep its ports. */
function endGroup(daemon: Daemon | undefined): void {
  try {
    if (daemon) process.kill(-daemon.pid, 'SIGKILL')
  } catch {
    // No process of the group is left.
  }
}

const stopAll = (): Promise<unknown> => Promise.all([...running.values()].map((part) => part.stop()))

async function carryOut({ action, part = '', environment = {} }: Order): Promise<void> {
  if (action === 'end') return void (await stopAll())
  const chosen = running.get(part)
  if (!chosen) throw new Error(`${machine} has no part ${part}.`)
  await (action === 'start' ? chosen.start(environment) : chosen.stop())
}

mountMachine(machine, paths)
for (const [name, part] of Object.entries(partsIn(paths)[machine]))
  running.set(name, part.isSupervised ? supervised(name, part) : unsupervised(name, part))

process.on('message', (order: Order) => {
  carryOut(order).then(
    () => report({ kind: 'done', id: order.id }),
    (error: Error) => report({ kind: 'done', id: order.id, failure: error.message }),
  )
})
process.once('disconnect', () => {
  void stopAll().finally(() => process.exit(0))
})
report({ kind: 'ready' })
