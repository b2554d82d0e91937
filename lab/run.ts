import { type LabOptions, startLab } from './lab.ts'
import { tour } from './tour.ts'

export const END_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** A lab in the foreground, until a signal ends it. Rejects when it cannot be brought up or its service keeps dying. */
export async function runLab(options: Pick<LabOptions, 'state' | 'flow' | 'place'>): Promise<void> {
  process.stdout.on('error', () => undefined) // whoever read the ready line may have hung up
  const end = new End()
  const startedAt = performance.now()
  const lab = await startLab({
    ...options,
    onProgress: (part) => print(`  ${((performance.now() - startedAt) / 1000).toFixed(1)} s  ${part}`),
    onPartLost: print,
    onServiceLost: (reason) => end.come(reason),
  })
  if (!end.hasCome) print(`Drawbridge ready at ${lab.description.api}\n${tour(lab.description, lab.state)}`)
  const reason = await end.coming
  await lab.stop()
  if (reason) throw reason
  print('Everything that was started is stopped.')
}

/** A signal ends the lab, and so does a service that keeps dying: then there is a reason to tell. The first one counts. */
class End {
  readonly coming: Promise<Error | undefined>
  hasCome = false
  #resolve: (reason: Error | undefined) => void = () => undefined

  constructor() {
    this.coming = new Promise((resolve) => {
      this.#resolve = resolve
    })
    for (const signal of END_SIGNALS) process.on(signal, () => this.come())
  }

  come(reason?: Error): void {
    this.hasCome = true
    this.#resolve(reason)
  }
}

function print(text: string): void {
  process.stdout.write(`${text}\n`)
}
