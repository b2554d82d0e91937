import type { Section } from './section.ts'
import * as value from './values.ts'

/** When certificates are looked after. When each is due follows from its own life. */
export interface RenewalSettings {
  readonly checkEverySeconds: number
  /** The pause after the first failure; each further one doubles it. */
  readonly retryFirstSeconds: number
  readonly retryCapSeconds: number
}

export function readRenewal(section: Section): RenewalSettings {
  const read = (key: keyof RenewalSettings, fallback: number): number =>
    section.read(key, fallback, value.whole(1, 86_400), 'whole seconds, 1 to 86400')
  return {
    checkEverySeconds: read('checkEverySeconds', 60),
    retryFirstSeconds: read('retryFirstSeconds', 300),
    retryCapSeconds: read('retryCapSeconds', 21_600),
  }
}
