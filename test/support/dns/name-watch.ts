import { dnsReader } from '../../../src/dns/reader.ts'
import { takes } from '../delay.ts'
import { serves } from '../edge/edge-folder.ts'
import type { TestLab } from '../lab/lab.ts'

export interface NameWatch {
  /** Stops the watch. Throws if the name ever existed while the Primary did not serve it. */
  end(): Promise<void>
}

/** Checks continuously whether a name points at an edge that does not serve it. */
export function watchName({ description }: TestLab, host: string): NameWatch {
  const reader = dnsReader(description.dns.primary)
  let ended = false
  let bare = 0
  let looks = 0
  const stands = async () => {
    const [outcome] = await reader.ask([{ name: host, type: 'A' }])
    return outcome?.kind === 'answer' && outcome.answers.length > 0
  }
  const isServed = () => serves(description.edges.primary, host)
  const watching = (async () => {
    while (!ended) {
      looks += 1
      // The name is queried before and after: a name that was removed in between, or one failed connection, proves nothing.
      if ((await stands()) && !(await isServed()) && !(await isServed()) && (await stands())) bare += 1
      await takes(20)
    }
  })()
  return {
    async end() {
      ended = true
      await watching
      if (looks === 0) throw new Error('The name was never checked.')
      if (bare > 0) throw new Error(`${host} pointed at an edge that did not serve it, ${bare} of ${looks} times`)
    },
  }
}
