import { Slots } from '../../primitives/slots.ts'
import type { Books } from './books.ts'
import { broken, type Evidence, noticed, unknown, type VerifyParts } from './evidence.ts'

const AT_ONCE = 8

/** Every applied host against its plan: entries on both edges, records, owner mark and certificate. */
export async function verifyHosts(
  { exposures, underWay }: Books,
  { verification }: Pick<VerifyParts, 'verification'>,
): Promise<Evidence[]> {
  const slots = new Slots(AT_ONCE)
  const applied = [...exposures.values()].filter(({ host, state }) => state === 'applied' && !underWay.has(host))
  const found = applied.map(({ host, planId }) => slots.run(() => verifyHost(host, planId, verification)))
  return (await Promise.all(found)).flat()
}

async function verifyHost(
  host: string,
  planId: string,
  { drift }: VerifyParts['verification'],
): Promise<readonly Evidence[]> {
  try {
    return (await drift(planId)).map(({ part, field, expected, found, overwrite, server }) => {
      const where = server === undefined ? '' : ` on edge ${server}`
      const sentence = `${host}: the ${part} (${field})${where} should be ${expected}, and is ${found}.`
      return overwrite ? noticed('whole', `${sentence} Somebody has changed it.`) : broken('whole', sentence)
    })
  } catch (error) {
    return [unknown('whole', host, error)]
  }
}
