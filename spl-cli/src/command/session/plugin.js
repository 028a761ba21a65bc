// Written by `spl session install-hooks --harness opencode`, and written anew by the next one.
//
// Tells `spl` what happens in a session, and hands what it says on to the model, behind the answer
// of the tool that has just returned. Whatever goes wrong here, opencode goes on.

import { spawn } from "node:child_process"

const COMMAND = @COMMAND@
// Started where policy hooks decide, if they do.
const DECIDING = @DECIDING@
const PATIENCE_MS = 10000
const DECIDING_PATIENCE_MS = 60000
const MAX_ANSWER = 1024 * 1024

/** Starts a command for one event. Returns what it answers, or nothing. Never throws. */
function tell(payload, decides) {
  return new Promise((resolve) => {
    let child, timer
    const chunks = []
    let length = 0
    const done = (answer) => {
      clearTimeout(timer)
      resolve(answer ?? {})
    }
    try {
      const command = decides ? DECIDING : COMMAND
      child = spawn("/bin/sh", ["-c", command], { stdio: ["pipe", "pipe", "ignore"], detached: true })
      timer = setTimeout(() => {
        try {
          process.kill(-child.pid, "SIGKILL")
        } catch {}
        done()
      }, decides ? DECIDING_PATIENCE_MS : PATIENCE_MS)
      timer.unref?.()
      child.on("error", () => done())
      child.stdin.on("error", () => {})
      child.stdout.on("error", () => {})
      child.stdout.on("data", (chunk) => {
        length += chunk.length
        if (length <= MAX_ANSWER) chunks.push(chunk)
      })
      child.on("close", () => {
        try {
          done(JSON.parse(Buffer.concat(chunks).toString("utf8")))
        } catch {
          done()
        }
      })
      child.stdin.end(JSON.stringify(payload))
    } catch {
      done()
    }
  })
}

/** The words of an answer for the model, or nothing. */
function wordsOf(answer) {
  const words = answer?.hookSpecificOutput?.additionalContext
  return typeof words === "string" ? words : ""
}

export const SplPlugin = async ({ client, directory }) => {
  // The parent of each session: a session with one is a subagent of the topmost.
  const parents = new Map()
  const closing = new Map()

  const parentOf = async (id) => {
    if (parents.has(id)) return parents.get(id)
    let parent
    try {
      const late = new Promise((resolve) => setTimeout(resolve, 1000).unref?.())
      const found = await Promise.race([client?.session?.get?.({ path: { id } }), late])
      parent = found?.data?.parentID
    } catch {}
    parents.set(id, parent)
    return parent
  }

  const report = async (name, id, fields, decides = false) => {
    try {
      if (typeof id !== "string" || id === "") return {}
      let top = id
      for (let level = 0; level < 16; level++) {
        const parent = await parentOf(top)
        if (!parent) break
        top = parent
      }
      const agent = top === id ? {} : { agent_id: id }
      const event = { hook_event_name: name, session_id: top, ...agent, cwd: directory, ...fields }
      return await tell(event, decides)
    } catch {
      return {}
    }
  }

  const heard = async ({ type, properties }) => {
    const info = properties?.info
    if (type === "session.created" && info?.id) {
      parents.set(info.id, info.parentID)
      await report(type, info.id, {})
    } else if (type === "session.deleted" && info?.id) {
      await report(type, info.id, {})
      parents.delete(info.id)
      closing.delete(info.id)
    } else if (type === "message.part.updated") {
      const part = properties?.part
      if (part?.type === "text" && part.time?.end) closing.set(part.sessionID, part.text)
    } else if (type === "session.idle") {
      const id = properties?.sessionID
      await report(type, id, { last_assistant_message: closing.get(id) })
      closing.delete(id)
    }
  }

  return {
    event: async (input) => {
      try {
        await heard(input?.event ?? {})
      } catch {}
    },
    "chat.message": async (input, output) => {
      let answer = {}
      try {
        const texts = (output?.parts ?? []).filter((part) => part?.type === "text" && !part.synthetic)
        const model = input?.model ?? output?.message?.model
        const session = input?.sessionID ?? output?.message?.sessionID
        const fields = {
          agent_type: input?.agent,
          message_id: input?.messageID ?? output?.message?.id,
          model: model?.modelID,
          prompt: texts.map((part) => part.text).join("\n"),
        }
        answer = await report("chat.message", session, fields, DECIDING !== null)
        const words = wordsOf(answer)
        const last = texts[texts.length - 1]
        if (words && last) last.text += `\n\n${words}`
      } catch {}
      // What is thrown here is what the person is told, and nothing is asked of the model.
      if (answer.decision === "block") throw new Error(answer.reason)
    },
    "tool.execute.before": async (input, output) => {
      if (DECIDING === null) return
      let said
      try {
        const fields = { tool_name: input?.tool, tool_use_id: input?.callID, tool_input: output?.args }
        said = (await report("tool.execute.before", input?.sessionID, fields, true)).hookSpecificOutput
      } catch {}
      // What is thrown here is what the model is told in the place of the tool's answer.
      if (said?.permissionDecision === "deny") throw new Error(said.permissionDecisionReason)
    },
    "tool.execute.after": async (input, output) => {
      try {
        const words = wordsOf(
          await report("tool.execute.after", input?.sessionID, {
            tool_name: input?.tool,
            tool_use_id: input?.callID,
            tool_input: input?.args,
            tool_response: { title: output?.title, output: output?.output, metadata: output?.metadata },
          }),
        )
        if (words && typeof output?.output === "string") output.output += `\n\n${words}`
      } catch {}
    },
  }
}
