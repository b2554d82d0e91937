import { type LabOptions, startLab } from './lab.ts'
import { tour } from './tour.ts'

export const END_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** Runs a lab until a signal ends it. Rejects when the lab cannot start or its service keeps dying. */
export async function runLab(options: Pick<LabOptions, 'state' | 'flow' | 'place'>): Promise<void> {
  process.stdout.on('error', () => undefined) // The reader may close the pipe after the ready line.
  const end = new End()
  const startedAt = performance.now()
  const lab = await startLab({
    ...options,
    onProgress: (part) => print(`  ${((performance.now() - startedAt) / 1000).toFixed(1)} s  ${part}`),
    onPartLost: print,
    onServiceLost: (reason) => end.finish(reason),
  })
  if (!end.isFinished) print(`Drawbridge ready at ${lab.description.api}\n${tour(lab.description, lab.state)}`)
  const reason = await end.finished
  await lab.stop()
  if (reason) throw reason
  print('All processes of the lab are stopped.')
}

/** The end of the lab: a signal, or a service that keeps dying, which gives a reason. The first one counts. */
class End {
  readonly finished: Promise<Error | undefined>
  isFinished = false
  #resolve: (reason: Error | undefined) => void = () => undefined

  constructor() {
    this.finished = new Promise((resolve) => {
      this.#resolve = resolve
    })
    for (const signal of END_SIGNALS) process.on(signal, () => this.finish())
  }

  finish(reason?: Error): void {
    this.isFinished = true
    this.#resolve(reason)
  }
}

function print(text: string): void {
  process.stdout.write(`${text}\n`)
}
