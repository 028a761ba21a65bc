//! Where a server listens.

use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpStream, ToSocketAddrs as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use spl::engine::{Engine, Settings};
use spl::http::{Access, ApiState, Front, Listener, ServerLimits};
use spl::policy::polpo::Runtime;
use spl::run::Host;
use tokio::net::{TcpListener, UnixListener};

use super::{Seat, ServeArgs};
use crate::bootstrap::Secret;
use crate::failure::{Exit, Failure};
use crate::home;
use crate::policy;
use crate::session::too_long;

/// How long whoever has the port already may take to answer.
const PROBE: Duration = Duration::from_millis(500);

/// Where on the network a server is to listen, and how.
pub(super) struct Place {
    address: SocketAddr,
    insecure: bool,
    /// What else it is called.
    names: Vec<String>,
    limits: ServerLimits,
    /// How far hooks of packs count.
    packs: Runtime,
}

impl Place {
    /// Returns the place that the arguments, the environment and the settings say, in this order.
    pub(super) fn of(args: &ServeArgs, seat: Option<&Seat>) -> Result<Self, Failure> {
        let settings = match seat {
            Some(seat) => seat.home().settings().map_err(|error| Failure::coded(&error))?,
            None => Settings::default(),
        };
        let port = args.port.unwrap_or(settings.server.port);
        let insecure = args.insecure_localhost;
        let a_minute = |times: u32| (times > 0).then_some(times);
        let limits = ServerLimits {
            failed_auth_per_minute: a_minute(settings.server.limits.failed_auth_per_minute),
            requests_per_minute: a_minute(settings.server.limits.requests_per_minute),
            ..ServerLimits::default()
        };
        let packs = policy::switches(&settings.runtime);
        let names = settings.server.names;
        if insecure {
            let address = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port);
            return Ok(Self { address, insecure, names, limits, packs });
        }
        let host = args
            .host
            .clone()
            .or_else(|| home::set("SPL_SERVE_HOST"))
            .unwrap_or(settings.server.host);
        let found = (host.as_str(), port).to_socket_addrs();
        let address = found.ok().and_then(|mut found| found.next());
        let address = address
            .ok_or_else(|| Failure::usage(format!("`{host}` is not an address to listen on")))?;
        Ok(Self { address, insecure, names, limits, packs })
    }
}

/// A server that listens.
pub(super) struct Listening {
    tcp: TcpListener,
    /// Where, with the port that it is.
    place: Place,
    unix: Option<(UnixListener, PathBuf)>,
}

impl Listening {
    /// Starts to listen on the port, and on the socket of the home if there is one.
    pub(super) async fn at(place: Place, seat: Option<&Seat>) -> Result<Self, Failure> {
        let Place { address, insecure, .. } = place;
        if address.port() != 0 && TcpStream::connect_timeout(&address, PROBE).is_ok() {
            return Err(in_use(address));
        }
        let tcp = TcpListener::bind(address).await.map_err(|error| match error.kind() {
            std::io::ErrorKind::AddrInUse => in_use(address),
            _ => Failure::local(format!("{address} could not be listened on"), &error),
        })?;
        let address = tcp.local_addr().unwrap_or(address);
        if insecure {
            tracing::warn!(%address, "nobody on this port is asked who they are");
        } else if !address.ip().is_loopback() {
            tracing::warn!(
                %address,
                "listening beyond this machine without TLS; requests to other than local names and \
                 the `names` of `[server]` are refused; put a proxy in front"
            );
        }
        let unix = seat.map(|seat| bind_socket(seat.home().socket_path())).transpose()?.flatten();
        Ok(Self { tcp, place: Place { address, ..place }, unix })
    }

    /// Returns the URL of the port.
    pub(super) fn url(&self) -> String {
        format!("http://{}", self.place.address)
    }

    /// Returns the path of the socket, if there is one.
    pub(super) fn socket(&self) -> Option<&Path> {
        self.unix.as_ref().map(|(_, path)| path.as_path())
    }

    /// Serves until `told` is ready.
    pub(super) async fn serve(
        self,
        engine: Engine,
        host: Option<Host>,
        secret: Option<&Secret>,
        told: impl Future<Output = ()>,
    ) {
        let Place { address, insecure, names, limits, packs } = self.place;
        let port = address.port();
        let access =
            if insecure { Access::InsecureLocalhost { port } } else { Access::Bearer { port } };
        let mut listeners = vec![(Listener::Tcp(self.tcp), access)];
        if let Some((unix, _)) = self.unix {
            listeners.push((Listener::Unix(unix), Access::SameUser));
        }
        let mut front = Front::default().known_as(names);
        if let Some(token) = secret.and_then(Secret::token) {
            front = front.opened_by(token);
        }
        let state = match host {
            Some(host) => ApiState::hosting(host, access, limits),
            None => ApiState::with_limits(engine, access, limits),
        };
        spl::http::serve(state.behind(front).on(packs), listeners, told).await;
    }
}

fn in_use(address: SocketAddr) -> Failure {
    let message = format!("something answers at {address} already");
    Failure::new(Exit::Error, "ADDRESS_IN_USE", message)
        .with_hint("Use another --port, or set `port` in config.toml.")
}

/// Listens on the socket of a home; `None` if its path is longer than the system takes, without
/// which a server can do.
fn bind_socket(path: PathBuf) -> Result<Option<(UnixListener, PathBuf)>, Failure> {
    if std::os::unix::net::SocketAddr::from_pathname(&path).is_err() {
        tracing::warn!("{}", too_long(&path));
        return Ok(None);
    }
    let failed = |error: std::io::Error| {
        Failure::local(format!("`{}` could not be listened on", path.display()), &error)
    };
    // The umask and the folder keep others out from the first moment on; this says so.
    let unix = UnixListener::bind(&path).map_err(failed)?;
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).map_err(failed)?;
    Ok(Some((unix, path)))
}
