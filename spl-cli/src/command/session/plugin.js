// Written by `spl session install-hooks --harness opencode`, and written anew by the next one.
//
// Tells `spl` what happens in a session, and hands what it says on to the model, behind the answer
// of the tool that has just returned. Whatever goes wrong here, opencode goes on.

import { spawn } from "node:child_process"

const COMMAND = @COMMAND@
const PATIENCE_MS = 10000
const MAX_ANSWER = 1024 * 1024

/** Starts the command for one event. Returns the words for the model, or nothing. Never throws. */
function tell(payload) {
  return new Promise((resolve) => {
    let child, timer
    const chunks = []
    let length = 0
    const done = (words) => {
      clearTimeout(timer)
      resolve(words)
    }
    try {
      child = spawn("/bin/sh", ["-c", COMMAND], { stdio: ["pipe", "pipe", "ignore"], detached: true })
      timer = setTimeout(() => {
        try {
          process.kill(-child.pid, "SIGKILL")
        } catch {}
        done("")
      }, PATIENCE_MS)
      timer.unref?.()
      child.on("error", () => done(""))
      child.stdin.on("error", () => {})
      child.stdout.on("error", () => {})
      child.stdout.on("data", (chunk) => {
        length += chunk.length
        if (length <= MAX_ANSWER) chunks.push(chunk)
      })
      child.on("close", () => {
        try {
          const answer = JSON.parse(Buffer.concat(chunks).toString("utf8"))
          const words = answer?.hookSpecificOutput?.additionalContext
          done(typeof words === "string" ? words : "")
        } catch {
          done("")
        }
      })
      child.stdin.end(JSON.stringify(payload))
    } catch {
      done("")
    }
  })
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

  const report = async (name, id, fields) => {
    try {
      if (typeof id !== "string" || id === "") return ""
      let top = id
      for (let level = 0; level < 16; level++) {
        const parent = await parentOf(top)
        if (!parent) break
        top = parent
      }
      const agent = top === id ? {} : { agent_id: id }
      return await tell({ hook_event_name: name, session_id: top, ...agent, cwd: directory, ...fields })
    } catch {
      return ""
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
      try {
        const texts = (output?.parts ?? []).filter((part) => part?.type === "text" && !part.synthetic)
        const model = input?.model ?? output?.message?.model
        await report("chat.message", input?.sessionID ?? output?.message?.sessionID, {
          agent_type: input?.agent,
          message_id: input?.messageID ?? output?.message?.id,
          model: model?.modelID,
          prompt: texts.map((part) => part.text).join("\n"),
        })
      } catch {}
    },
    "tool.execute.after": async (input, output) => {
      try {
        const words = await report("tool.execute.after", input?.sessionID, {
          tool_name: input?.tool,
          tool_use_id: input?.callID,
          tool_input: input?.args,
          tool_response: { title: output?.title, output: output?.output, metadata: output?.metadata },
        })
        if (words && typeof output?.output === "string") output.output += `\n\n${words}`
      } catch {}
    },
  }
}
