import { Type } from 'typebox'
import { LONGEST_NOTE } from '../../model/exposure.ts'
import { closed, nullable, Time } from './schema-parts.ts'

export const MuteState = Type.Object(
  {
    since: nullable(Time),
    until: nullable(
      Type.String({
        format: 'date-time',
        description: 'Null: until somebody ends it.',
        examples: ['2026-02-01T12:00:00.000Z'],
      }),
    ),
    by: Type.String({
      description: 'The address of the caller who muted the host, or `configuration`.',
      examples: ['192.168.45.10'],
    }),
    note: Type.Optional(Type.String()),
  },
  { ...closed, title: 'Mute' },
)

export const MuteParams = Type.Object({ host: Type.String({ maxLength: 1024, examples: ['hello.lab.test'] }) })

/** The longest time for which a host can be muted, in seconds: a year. */
const LONGEST_MUTE = 31_536_000

export const MuteRequestBody = Type.Object(
  {
    expiresIn: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: LONGEST_MUTE,
        description: 'In seconds. Without it the host is muted until somebody ends it.',
        examples: [7200],
      }),
    ),
    note: Type.Optional(
      Type.String({
        format: 'note',
        maxLength: LONGEST_NOTE,
        description: 'Why.',
        examples: ['moves to a new server'],
      }),
    ),
  },
  { ...closed, title: 'MuteRequest' },
)

export const UnmuteRequestBody = Type.Object({}, { ...closed, title: 'UnmuteRequest' })

export const MutedBody = Type.Object(
  {
    host: Type.String({ examples: ['hello.lab.test'] }),
    muted: nullable(MuteState),
  },
  { ...closed, title: 'Muted', description: 'Whether and how the host is muted now.' },
)
