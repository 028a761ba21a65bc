//! A client of an event stream, as the published one behaves: it comes back with the last position
//! that it has heard, whatever the stream ended with.

use std::io;
use std::path::PathBuf;

use tokio::net::{TcpStream, UnixStream};
use tokio::sync::watch;

/// How to get to the server.
#[derive(Debug, Clone)]
pub(crate) enum Way {
    Tcp {
        port: u16,
        bearer: String,
    },
    /// Of which a reader that does not read can leave little unread.
    Unix(PathBuf),
}

enum Stream {
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl Stream {
    async fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let read = match self {
                Self::Tcp(stream) => {
                    stream.readable().await?;
                    stream.try_read(buffer)
                }
                Self::Unix(stream) => {
                    stream.readable().await?;
                    stream.try_read(buffer)
                }
            };
            match read {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                read => return read,
            }
        }
    }

    async fn write(&self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            let written = match self {
                Self::Tcp(stream) => {
                    stream.writable().await?;
                    stream.try_write(bytes)
                }
                Self::Unix(stream) => {
                    stream.writable().await?;
                    stream.try_write(bytes)
                }
            };
            match written {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                written => bytes = &bytes[written?..],
            }
        }
        Ok(())
    }
}

/// When somebody who does not read goes on, and when everybody has heard all there is.
#[derive(Clone)]
pub(crate) struct Signals {
    pub(crate) read: watch::Receiver<bool>,
    /// How many records the thread will have; `None` before anybody knows.
    pub(crate) wanted: watch::Receiver<Option<usize>>,
}

/// What a watcher has heard.
#[derive(Debug, Default)]
pub(crate) struct Heard {
    /// The position and the id of each record, in the order in which they were told.
    pub(crate) records: Vec<(i64, String)>,
    /// How often it was told that it lagged.
    pub(crate) lagged: usize,
    /// How often a stream ended.
    pub(crate) ended: usize,
    /// The position to come back with.
    last: Option<String>,
}

pub(crate) struct Watcher {
    pub(crate) way: Way,
    pub(crate) thread: String,
    /// Whether it reads nothing after its first event until it is told to.
    pub(crate) is_slow: bool,
    pub(crate) signals: Signals,
    /// Told when the first event is there.
    pub(crate) ready: watch::Sender<usize>,
}

impl Watcher {
    /// Listens until all that the thread will have has been heard.
    pub(crate) async fn listen(mut self) -> io::Result<Heard> {
        let mut heard = Heard::default();
        while !self.has_all(&heard) {
            if heard.last.is_some() {
                heard.ended += 1;
            }
            self.follow(&mut heard).await?;
        }
        Ok(heard)
    }

    fn has_all(&self, heard: &Heard) -> bool {
        self.signals.wanted.borrow().is_some_and(|wanted| heard.records.len() >= wanted)
    }

    async fn connect(&self) -> io::Result<(Stream, String)> {
        Ok(match &self.way {
            Way::Tcp { port, bearer } => {
                let stream = TcpStream::connect(("127.0.0.1", *port)).await?;
                let headers =
                    format!("host: 127.0.0.1:{port}\r\nauthorization: Bearer {bearer}\r\n");
                (Stream::Tcp(stream), headers)
            }
            Way::Unix(path) => {
                (Stream::Unix(UnixStream::connect(path).await?), "host: localhost\r\n".into())
            }
        })
    }

    /// Reads one stream to its end, or until all is heard.
    async fn follow(&mut self, heard: &mut Heard) -> io::Result<()> {
        let (stream, mut headers) = self.connect().await?;
        if let Some(last) = &heard.last {
            headers.push_str(&format!("last-event-id: {last}\r\n"));
        }
        let request = format!("GET /v1/threads/{}/watch HTTP/1.1\r\n{headers}\r\n", self.thread);
        stream.write(request.as_bytes()).await?;
        let mut unread = Vec::new();
        let mut chunk = vec![0; 16 * 1024];
        let mut wanted = self.signals.wanted.clone();
        loop {
            let count = tokio::select! {
                count = stream.read(&mut chunk) => count?,
                changed = wanted.changed() => {
                    changed.map_err(io::Error::other)?;
                    if self.has_all(heard) {
                        return Ok(());
                    }
                    continue;
                }
            };
            if count == 0 {
                return Ok(());
            }
            unread.extend_from_slice(&chunk[..count]);
            let was_new = heard.last.is_none();
            // Everything up to the last whole frame.
            let Some(end) = unread.windows(2).rposition(|pair| pair == b"\n\n") else { continue };
            let text = String::from_utf8_lossy(&unread[..end + 2]).into_owned();
            unread.drain(..end + 2);
            for frame in text.split("\n\n") {
                heard.take(frame);
            }
            if was_new && heard.last.is_some() {
                self.ready.send_modify(|ready| *ready += 1);
                if self.is_slow {
                    let told = self.signals.read.wait_for(|read| *read).await;
                    told.map_err(io::Error::other)?;
                }
            }
            if self.has_all(heard) {
                return Ok(());
            }
        }
    }
}

impl Heard {
    /// Takes the lines of one frame. What stands between frames, the sizes of chunks and the head of
    /// the answer, has no line that begins as one of theirs.
    fn take(&mut self, frame: &str) {
        let line = |name: &str| frame.lines().find_map(|line| line.strip_prefix(name));
        let (Some(event), Some(data)) = (line("event: "), line("data: ")) else {
            assert!(!frame.starts_with("HTTP/1.1") || frame.contains(" 200 "), "{frame}");
            return;
        };
        match event {
            "record.created" => {
                let id = data.strip_prefix("{\"id\":\"").and_then(|rest| rest.get(..64));
                let position = line("id: ").and_then(|id| id.parse().ok()).expect("a position");
                self.records.push((position, id.expect("an id").to_owned()));
            }
            "error" => {
                assert!(data.contains("\"code\":\"lagged\""), "{data}");
                self.lagged += 1;
            }
            "heartbeat" => {}
            other => panic!("an event `{other}`: {data}"),
        }
        if let Some(id) = line("id: ") {
            self.last = Some(id.to_owned());
        }
    }
}
