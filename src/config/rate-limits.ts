import type { Section } from './section.ts'
import * as value from './values.ts'

/** Requests per address and minute. */
export interface Budget {
  readonly plan: number
  readonly diagnose: number
  readonly read: number
  readonly failedCredential: number
}

export interface RateLimits {
  readonly public: Budget
  readonly internal: Budget
}

const PUBLIC: Budget = { plan: 30, diagnose: 30, read: 300, failedCredential: 10 }
const INTERNAL: Budget = { plan: 1200, diagnose: 1200, read: 1200, failedCredential: 1200 }

export function readRateLimits(section: Section): RateLimits {
  return {
    public: readBudget(section.section('public'), PUBLIC),
    internal: readBudget(section.section('internal'), INTERNAL),
  }
}

function readBudget(section: Section, fallback: Budget): Budget {
  const read = (key: keyof Budget): number =>
    section.read(key, fallback[key], value.whole(1, 1_000_000), 'a whole number of requests per minute, 1 to 1000000')
  return {
    plan: read('plan'),
    diagnose: read('diagnose'),
    read: read('read'),
    failedCredential: read('failedCredential'),
  }
}
