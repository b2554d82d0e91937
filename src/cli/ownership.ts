import type { Command } from 'commander'
import type { DrawbridgeClient } from '../client/client.ts'
import { type OtherOwner, otherOwnerOf } from '../client/owner-of.ts'
import { confirm, UsageError } from '../terminal/declare.ts'
import type { ApiOptions } from './api-client.ts'
import { ownName } from './service/own-settings.ts'

/** The options of every command that changes an exposure. */
export interface OwnerOptions extends ApiOptions {
  readonly owner?: string
  readonly otherOwner?: boolean
  readonly yes?: boolean
}

export const withOwner = (command: Command): Command =>
  command
    .option('--owner <name>', 'who you are (default: DRAWBRIDGE_OWNER, then owner in ~/.config/drawbridge/config.yaml)')
    .option('--other-owner', 'do it also if the host belongs to another owner')
    .option('-y, --yes', 'do it without a question')

/** What would be done. `action` completes the sentence "pass --yes to …". */
interface Act {
  readonly planId: string
  readonly kind: 'apply' | 'other'
  readonly question: string
  readonly action: string
  /** Whether `--yes` is required where nobody can be asked. Without it, such a command of a script goes on. */
  readonly needsYes: boolean
}

/** Resolves when a person confirms. The host of another owner is changed only if somebody says so. */
export async function confirmAct(api: DrawbridgeClient, act: Act, options: OwnerOptions): Promise<void> {
  const me = await ownName(options.owner, process.env)
  const other = await otherOwnerOf(api, act.planId, act.kind, me)
  await confirmOthers(other ? [other] : [], me, act, options)
}

/** The same for several hosts that one question is about. */
export async function confirmOthers(
  others: readonly OtherOwner[],
  me: string | undefined,
  { question, action, needsYes }: Pick<Act, 'question' | 'action' | 'needsYes'>,
  { otherOwner, yes }: OwnerOptions,
): Promise<void> {
  if (others.length === 0 || otherOwner) {
    if (needsYes || process.stdin.isTTY) await confirm({ question, action, yes })
    return
  }
  const whose = others.map(({ host, owner }) => `${host} belongs to ${owner}.`).join('\n')
  const you = me === undefined ? 'Nobody said who you are (--owner or DRAWBRIDGE_OWNER).' : `You are ${me}.`
  if (!process.stdin.isTTY) throw new UsageError(`${whose} ${you} Pass --other-owner to ${action} all the same.`)
  await confirm({ question: `${whose} ${you}\n${question}`, action, yes: false })
}
