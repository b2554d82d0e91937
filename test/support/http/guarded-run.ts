import { Type } from 'typebox'
import type { GuardedAction } from '../../../src/authorize/flows.ts'
import { credentialsOf } from '../../../src/http/guard/request-guard.ts'
import { Problem } from '../../../src/model/errors.ts'
import type { Service } from '../../../src/operate/serve.ts'

export interface GuardedRuns {
  /** Adds `POST /test/apply` and `POST /test/remove`. */
  readonly mount: (service: Service) => void
  /** The number of runs that were allowed, over all services. */
  readonly count: () => number
}

/** A stand-in for apply and remove: the capability is checked and spent in the transaction that starts the run. */
export function guardedRuns(now: () => number = Date.now): GuardedRuns {
  let runs = 0
  const add = ({ app, store, admission }: Service, action: Exclude<GuardedAction, 'token'>) =>
    app.post(
      `/test/${action}`,
      { config: { guarded: action }, schema: { body: Type.Object({ planId: Type.String() }) } },
      async (request) => {
        const { planId } = request.body
        await store.transaction(async (session) => {
          const plan = await session.findPlan(planId)
          if (!plan) throw new Problem('plan_not_found', 'No plan has this id.')
          await admission.prove(action, plan, request.caller, credentialsOf(request), session, now())
        })
        runs += 1
        return { ran: true }
      },
    )
  return {
    mount: (service) => {
      add(service, 'apply')
      add(service, 'remove')
    },
    count: () => runs,
  }
}
